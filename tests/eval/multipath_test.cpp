// Derived facts of multipath maps and their disks.
