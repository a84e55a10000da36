// The engines of `latency` beside bare loops, libnfs, libiscsi, iscsi-perf and fio, against the same servers in one
// run: IOPS, p50, p99 and processor time of the client for 4 KiB random reads at depth 1, 32 and 128. Rounds are
// interleaved and medians are printed, so that what else the machine does falls on all of them.
//   load_bench NFS_ADDR:PORT MOUNT_PORT EXPORT/FILE ISCSI_ADDR:PORT IQN LUN [ROUNDS [SECONDS]]
// FIO in the environment: a fio with the engines nfs and libiscsi.
#include <fcntl.h>
#include <fmt/format.h>
#include <iscsi/iscsi.h>
#include <iscsi/scsi-lowlevel.h>
#include <nfsc/libnfs.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "audit/base/json.h"
#include "probes/load/block_order.h"
#include "probes/load/drive.h"
#include "probes/load/iscsi_engine.h"
#include "probes/load/nfs_engine.h"
#include "probes/load/nfs_place.h"
#include "probes/wire/nfs3.h"
#include "probes/wire/scsi.h"
#include "tests/wire/peer.h"

using namespace load;

namespace {

constexpr std::uint32_t block = 4096;

struct Figures {
  double iops = 0;
  double p50_us = 0;  // 0: not told
  double p99_us = 0;
  double cpu_us = 0;  // per operation
};

struct Setting {
  wire::Address nfs;
  std::uint16_t mount_port = 0;
  std::string path;
  wire::Address iscsi;
  std::string target;
  int lun = 1;
  double seconds = 1;
  std::uint64_t range = std::uint64_t{64} << 20;
};

double thread_cpu() {
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

[[noreturn]] void give_up(const std::string& why) { throw std::runtime_error(why); }

template <class T>
T need(wire::Outcome<T> value) {
  if (!value) give_up(wire::to_text(value.error()));
  return std::move(*value);
}
void need(const wire::Outcome<void>& value) {
  if (!value) give_up(wire::to_text(value.error()));
}

Figures figures_of(const Histogram& latency, double seconds, double cpu) {
  const auto count = static_cast<double>(latency.count());
  return {count / seconds, latency.percentile_ns(50) / 1000, latency.percentile_ns(99) / 1000, cpu / count * 1e6};
}

// ---- ours

Figures run_engine(const Setting& setting, Engine& engine, unsigned depth) {
  const Step step{{Op::read, true}, block, depth, 1, 0};
  need(engine.prepare(step));
  PassOptions options;
  options.seconds = setting.seconds;
  options.ramp_s = 0.1;
  auto record = std::make_unique<Record>();
  run_pass(engine, step, {setting.range}, options, *record);
  if (record->end != End::complete || record->errors != 0) give_up("our engine: " + std::string(record->why.data()));
  return {record->iops(), record->latency.percentile_ns(50) / 1000, record->latency.percentile_ns(99) / 1000,
          record->cpu_s / static_cast<double>(record->ops) * 1e6};
}

std::unique_ptr<NfsPlace> open_place(const Setting& setting, const std::string& version) {
  return need(NfsPlace::open({setting.nfs, setting.mount_port, version, setting.path}, {}));
}

Figures ours_nfs(const Setting& setting, unsigned depth, const std::string& version) {
  const auto place = open_place(setting, version);
  NfsEngine engine(place.get(), setting.nfs, version == "3" ? 3 : 4, 5);
  return run_engine(setting, engine, depth);
}

IscsiWhere iscsi_where(const Setting& setting) {
  return {setting.iscsi, setting.target, wire::scsi::lun_of(static_cast<std::uint16_t>(setting.lun)),
          "iqn.2001-01.invalid.mountaudit:bench", std::nullopt};
}

Figures ours_iscsi(const Setting& setting, unsigned depth) {
  IscsiEngine engine(iscsi_where(setting), 5, nullptr);
  need(engine.open());
  return run_engine(setting, engine, depth);
}

// ---- bare loops: the same bytes over one blocking socket, nothing but send, recv and the clock

// `end_of` tells how long the next answer is, whether all of it is here, and whose it is; `patch` writes the request.
struct Bare {
  std::size_t request_bytes = 0;
  std::function<void(std::uint8_t* to, std::uint32_t slot, std::uint64_t block_number)> patch;
  // Size of the unit at the begin of the bytes (0: incomplete), and the slot that is answered by it (-1: none).
  std::function<std::pair<std::size_t, int>(const std::uint8_t* at, std::size_t size)> unit;
};

Figures bare_loop(const Setting& setting, int fd, unsigned depth, const Bare& bare) {
  const timeval limit{5, 0};
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  BlockOrder order = BlockOrder::random(setting.range / block, 7);
  std::vector<std::uint8_t> out(bare.request_bytes * depth);
  std::vector<std::uint8_t> in(std::size_t{1} << 20);
  std::vector<std::uint64_t> sent(depth);
  std::vector<std::uint32_t> free;
  for (std::uint32_t i = 0; i < depth; ++i) free.push_back(i);
  std::size_t have = 0;
  auto latency = std::make_unique<Histogram>();
  const std::uint64_t warm = now_ns() + 100'000'000;
  const std::uint64_t end = warm + static_cast<std::uint64_t>(setting.seconds * 1e9);
  double cpu = 0;
  bool counting = false;
  std::size_t flying = 0;
  for (std::uint64_t now = now_ns(); now < end;) {
    if (!counting && now >= warm) {
      counting = true;
      cpu = thread_cpu();
    }
    std::size_t bytes = 0;
    for (const auto slot : free) {
      bare.patch(out.data() + bytes, slot, order.next());
      bytes += bare.request_bytes;
    }
    const std::uint64_t at = now_ns();
    for (const auto slot : free) sent[slot] = at;
    flying += free.size();
    free.clear();
    if (bytes != 0 && ::send(fd, out.data(), bytes, MSG_NOSIGNAL) != static_cast<ssize_t>(bytes)) give_up("bare: send");
    while (free.empty()) {
      const ssize_t got = ::recv(fd, in.data() + have, in.size() - have, 0);
      if (got <= 0) give_up("bare: recv");
      now = now_ns();
      have += static_cast<std::size_t>(got);
      std::size_t from = 0;
      while (true) {
        const auto [size, slot] = bare.unit(in.data() + from, have - from);
        if (size == 0 || size > have - from) break;
        from += size;
        if (slot < 0) continue;
        if (counting) latency->add(now - sent[static_cast<std::size_t>(slot)]);
        free.push_back(static_cast<std::uint32_t>(slot));
        --flying;
      }
      std::memmove(in.data(), in.data() + from, have - from);
      have -= from;
    }
  }
  return figures_of(*latency, setting.seconds, thread_cpu() - cpu);
}

std::uint32_t load32(const std::uint8_t* at) {
  return std::uint32_t{at[0]} << 24 | std::uint32_t{at[1]} << 16 | std::uint32_t{at[2]} << 8 | at[3];
}
void store32(std::uint8_t* at, std::uint64_t value) {
  for (int i = 0; i < 4; ++i) at[i] = static_cast<std::uint8_t>(value >> (24 - 8 * i));
}

Figures bare_nfs(const Setting& setting, unsigned depth, const wire::Bytes& handle, const wire::Address& peer) {
  const Socket socket = need(Socket::connect(peer, false, 5));
  const wire::Bytes record = wire::encode_call(0, wire::nfs3::read(handle, 0, block));
  Bare bare;
  bare.request_bytes = record.size();
  bare.patch = [&](std::uint8_t* to, std::uint32_t slot, std::uint64_t number) {
    std::memcpy(to, record.data(), record.size());
    store32(to + 4, 0x1000 + slot);
    store32(to + record.size() - 12, number * block >> 32);
    store32(to + record.size() - 8, number * block);
  };
  bare.unit = [](const std::uint8_t* at, std::size_t size) -> std::pair<std::size_t, int> {
    if (size < 8) return {0, -1};
    return {4 + (load32(at) & 0x7fffffff), static_cast<int>(load32(at + 4) - 0x1000)};
  };
  return bare_loop(setting, socket.fd(), depth, bare);
}

Figures bare_iscsi(const Setting& setting, unsigned depth) {
  const IscsiWhere where = iscsi_where(setting);
  wire::iscsi::Session session(where.address, {});
  need(session.connect());
  need(session.login({where.initiator, where.target, std::nullopt, wire::iscsi::random_isid(), 262144, true}));
  while (!session.command(where.lun, wire::scsi::test_unit_ready(), 0)) {
  }
  const auto released = need(session.release());
  const Socket socket(released.fd);
  std::uint32_t cmd_sn = released.cmd_sn;
  std::uint32_t stat_sn = released.exp_stat_sn;
  Bare bare;
  bare.request_bytes = 48;
  bare.patch = [&](std::uint8_t* to, std::uint32_t slot, std::uint64_t number) {
    std::memset(to, 0, 48);
    to[0] = 0x01;
    to[1] = 0xc1;
    std::memcpy(to + 8, where.lun.data(), 8);
    store32(to + 16, 0x1000 + slot);
    store32(to + 20, block);
    store32(to + 24, cmd_sn++);
    store32(to + 28, stat_sn);
    to[32] = 0x88;
    store32(to + 38, number * (block / 512));
    store32(to + 42, block / 512);
  };
  bare.unit = [&](const std::uint8_t* at, std::size_t size) -> std::pair<std::size_t, int> {
    if (size < 48) return {0, -1};
    const std::size_t data = std::size_t{at[5]} << 16 | std::size_t{at[6]} << 8 | at[7];
    const std::size_t whole = 48 + ((data + 3) & ~std::size_t{3});
    const bool ends = (at[0] == 0x25 && (at[1] & 1) != 0) || at[0] == 0x21;
    if (size >= whole && ends) stat_sn = load32(at + 24) + 1;
    return {whole, ends ? static_cast<int>(load32(at + 16) - 0x1000) : -1};
  };
  return bare_loop(setting, socket.fd(), depth, bare);
}

// ---- libnfs and libiscsi, as their asynchronous interfaces want to be used

struct LibraryLoop {
  const Setting& setting;
  std::unique_ptr<Histogram> latency = std::make_unique<Histogram>();
  BlockOrder order;
  std::uint64_t warm = now_ns() + 100'000'000;
  std::uint64_t end = warm + static_cast<std::uint64_t>(setting.seconds * 1e9);
  double cpu = 0;
  bool counting = false;
  explicit LibraryLoop(const Setting& own) : setting(own), order(BlockOrder::random(own.range / block, 9)) {}

  void note(std::uint64_t sent) {
    const std::uint64_t now = now_ns();
    if (!counting && now >= warm) {
      counting = true;
      cpu = thread_cpu();
    }
    if (counting) latency->add(now - sent);
  }
  Figures figures() const { return figures_of(*latency, setting.seconds, thread_cpu() - cpu); }
};

struct NfsSlot {
  LibraryLoop* loop;
  nfs_context* nfs;
  nfsfh* file;
  std::uint64_t sent;
};

void nfs_issue(NfsSlot* slot);
void nfs_answered(int status, nfs_context*, void*, void* own) {
  auto* slot = static_cast<NfsSlot*>(own);
  if (status != static_cast<int>(block)) return;
  slot->loop->note(slot->sent);
  nfs_issue(slot);
}
void nfs_issue(NfsSlot* slot) {
  slot->sent = now_ns();
  nfs_pread_async(slot->nfs, slot->file, slot->loop->order.next() * block, block, nfs_answered, slot);
}

Figures libnfs(const Setting& setting, unsigned depth) {
  nfs_context* nfs = nfs_init_context();
  const std::string url =
      fmt::format("nfs://-/?version=3&nfsport={}&mountport={}&readahead=0", setting.nfs.port(), setting.mount_port);
  if (nfs_url* parsed = nfs_parse_url_incomplete(nfs, url.c_str()); parsed != nullptr) nfs_destroy_url(parsed);
  const auto slash = setting.path.rfind('/');
  nfsfh* file = nullptr;
  if (nfs_mount(nfs, setting.nfs.host().c_str(), setting.path.substr(0, slash).c_str()) != 0 ||
      nfs_open(nfs, setting.path.substr(slash).c_str(), O_RDONLY, &file) != 0)
    give_up(fmt::format("libnfs: {}", nfs_get_error(nfs)));
  LibraryLoop loop(setting);
  std::vector<NfsSlot> slots(depth, {&loop, nfs, file, 0});
  for (auto& slot : slots) nfs_issue(&slot);
  while (now_ns() < loop.end) {
    pollfd one{nfs_get_fd(nfs), static_cast<short>(nfs_which_events(nfs)), 0};
    if (::poll(&one, 1, 100) < 0 || nfs_service(nfs, one.revents) < 0) give_up("libnfs: service");
  }
  const Figures figures = loop.figures();
  nfs_destroy_context(nfs);
  return figures;
}

struct IscsiSlot {
  LibraryLoop* loop;
  iscsi_context* iscsi;
  int lun;
  std::uint64_t sent;
  std::vector<unsigned char> data;
};

void iscsi_issue(IscsiSlot* slot);
void iscsi_answered(iscsi_context*, int status, void* command, void* own) {
  auto* slot = static_cast<IscsiSlot*>(own);
  scsi_free_scsi_task(static_cast<scsi_task*>(command));
  if (status != 0) return;
  slot->loop->note(slot->sent);
  iscsi_issue(slot);
}
void iscsi_issue(IscsiSlot* slot) {
  slot->sent = now_ns();
  scsi_task* task = iscsi_read16_task(slot->iscsi, slot->lun, slot->loop->order.next() * (block / 512), block, 512, 0,
                                      0, 0, 0, 0, iscsi_answered, slot);
  scsi_task_add_data_in_buffer(task, static_cast<int>(block), slot->data.data());
}

Figures libiscsi(const Setting& setting, unsigned depth) {
  iscsi_context* iscsi = iscsi_create_context("iqn.2001-01.invalid.mountaudit:libiscsi");
  iscsi_set_noautoreconnect(iscsi, 1);
  iscsi_set_timeout(iscsi, 5);
  iscsi_set_session_type(iscsi, ISCSI_SESSION_NORMAL);
  iscsi_set_targetname(iscsi, setting.target.c_str());
  if (iscsi_full_connect_sync(iscsi, setting.iscsi.text().c_str(), setting.lun) != 0)
    give_up(fmt::format("libiscsi: {}", iscsi_get_error(iscsi)));
  LibraryLoop loop(setting);
  std::vector<IscsiSlot> slots(depth, {&loop, iscsi, setting.lun, 0, std::vector<unsigned char>(block)});
  for (auto& slot : slots) iscsi_issue(&slot);
  while (now_ns() < loop.end) {
    pollfd one{iscsi_get_fd(iscsi), static_cast<short>(iscsi_which_events(iscsi)), 0};
    if (::poll(&one, 1, 100) < 0 || iscsi_service(iscsi, one.revents) < 0) give_up("libiscsi: service");
  }
  const Figures figures = loop.figures();
  iscsi_destroy_context(iscsi);
  return figures;
}

// ---- other programs

struct Ended {
  std::string out;
  double cpu_s = 0;
  int status = 0;
};

Ended run_program(const std::vector<std::string>& words) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) give_up("pipe");
  std::vector<char*> argv;
  for (const auto& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], 1);
    ::dup2(ends[1], 2);
    ::execvp(argv[0], argv.data());
    ::_exit(127);
  }
  ::close(ends[1]);
  Ended ended;
  char buffer[4096];
  for (ssize_t got = 0; (got = ::read(ends[0], buffer, sizeof buffer)) > 0;)
    ended.out.append(buffer, static_cast<std::size_t>(got));
  ::close(ends[0]);
  rusage used{};
  ::wait4(child, &ended.status, 0, &used);
  ended.cpu_s = static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
  return ended;
}

// Its last line says "iops average 12345 (48 MB/s)"; latencies it does not tell.
Figures iscsi_perf(const Setting& setting, unsigned depth) {
  const int seconds = std::max(1, static_cast<int>(setting.seconds));
  const Ended ended = run_program({"timeout", "60", "iscsi-perf", "-m", std::to_string(depth), "-b",
                                   std::to_string(block / 512), "-r", "-t", std::to_string(seconds),
                                   fmt::format("iscsi://{}/{}/{}", setting.iscsi.text(), setting.target, setting.lun)});
  const auto at = ended.out.rfind("iops average");
  if (at == std::string::npos) give_up("iscsi-perf: " + ended.out.substr(0, 200));
  const double iops = std::atof(ended.out.c_str() + at + std::strlen("iops average"));
  return {iops, 0, 0, ended.cpu_s / (iops * seconds) * 1e6};
}

Figures fio(const Setting& setting, unsigned depth, bool nfs, const std::string& program) {
  std::vector<std::string> words{"timeout",
                                 "60",
                                 program,
                                 "--name=x",
                                 "--rw=randread",
                                 "--bs=4096",
                                 "--time_based",
                                 "--thread",
                                 "--random_generator=lfsr",
                                 "--size=64m",
                                 "--output-format=json",
                                 "--percentile_list=50:99",
                                 fmt::format("--iodepth={}", depth),
                                 fmt::format("--runtime={}", std::max(1, static_cast<int>(setting.seconds)))};
  if (nfs) {
    const auto slash = setting.path.rfind('/');
    words.push_back("--ioengine=nfs");
    words.push_back(fmt::format("--nfs_url=nfs://{}{}?version=3&nfsport={}&mountport={}&readahead=0",
                                setting.nfs.host(), setting.path.substr(0, slash), setting.nfs.port(),
                                setting.mount_port));
    words.push_back("--filename=" + setting.path.substr(slash));
  } else {
    words.push_back("--ioengine=libiscsi");
    words.push_back(fmt::format(
        "--filename=iscsi\\://{}\\:{}/{}/{}", setting.iscsi.host(), setting.iscsi.port(),
        [&] {
          std::string escaped;
          for (const char c : setting.target) escaped += c == ':' ? std::string("\\:") : std::string(1, c);
          return escaped;
        }(),
        setting.lun));
  }
  const Ended ended = run_program(words);
  const auto begin = ended.out.find('{');
  const auto document =
      begin == std::string::npos ? tl::unexpected(base::Error{}) : base::parse_json(ended.out.substr(begin), "fio");
  if (!document) give_up("fio: " + ended.out.substr(0, 300));
  const auto& job = document->at("jobs").at(0);
  const auto& read = job.at("read");
  const double iops = read.at("iops").to_number<double>();
  const auto& percentiles = read.at("clat_ns").at("percentile");
  const double total = read.at("total_ios").to_number<double>();
  const double runtime = read.at("runtime").to_number<double>() / 1000;
  const double cpu = (job.at("usr_cpu").to_number<double>() + job.at("sys_cpu").to_number<double>()) / 100 * runtime;
  return {iops, percentiles.at("50.000000").to_number<double>() / 1000,
          percentiles.at("99.000000").to_number<double>() / 1000, cpu / total * 1e6};
}

// ---- a server in this process that answers at once: the ceiling of a client

wire::Bytes instant_answer(const wire_test::ReceivedCall& call) {
  wire::XdrWriter results;
  results.u32(0).u32(0).u32(block).u32(0).u32(block);
  static const wire::Bytes data(block, 0x5a);
  results.fixed(data);
  return wire_test::success(call.xid, results.bytes());
}

// ---- the table

struct Row {
  std::string name;
  std::function<Figures(unsigned depth)> measure;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void table(const std::string& title, const std::vector<Row>& rows, int rounds) {
  for (const unsigned depth : {1U, 32U, 128U}) {
    fmt::print("\n{}, depth {}\n  {:<24} {:>9} {:>9} {:>9} {:>10}\n", title, depth, "", "IOPS", "p50 us", "p99 us",
               "CPU us/op");
    std::vector<std::vector<Figures>> all(rows.size());
    std::vector<std::string> errors(rows.size());
    for (int round = 0; round < rounds; ++round) {
      for (std::size_t i = 0; i < rows.size(); ++i) {
        try {
          if (errors[i].empty()) all[i].push_back(rows[i].measure(depth));
        } catch (const std::exception& error) {
          errors[i] = error.what();
        }
      }
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!errors[i].empty()) {
        fmt::print("  {:<24} {}\n", rows[i].name, errors[i]);
        continue;
      }
      const auto of = [&](double Figures::*member) {
        std::vector<double> values;
        for (const auto& one : all[i]) values.push_back(one.*member);
        return median(values);
      };
      const auto shown = [](double us) { return us > 0 ? fmt::format("{:.0f}", us) : std::string("-"); };
      fmt::print("  {:<24} {:>9.0f} {:>9} {:>9} {:>10.1f}\n", rows[i].name, of(&Figures::iops),
                 shown(of(&Figures::p50_us)), shown(of(&Figures::p99_us)), of(&Figures::cpu_us));
    }
    std::fflush(stdout);
  }
}

std::pair<std::string, std::uint16_t> host_port(const std::string& text) {
  const auto colon = text.rfind(':');
  return {text.substr(0, colon), static_cast<std::uint16_t>(std::atoi(text.c_str() + colon + 1))};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 7) {
    fmt::print(stderr, "usage: load_bench NFS:PORT MOUNT_PORT /EXPORT/FILE ISCSI:PORT IQN LUN [ROUNDS [SECONDS]]\n");
    return 2;
  }
  Setting setting;
  const auto nfs = host_port(argv[1]);
  setting.nfs = *wire::parse_address(nfs.first, nfs.second);
  setting.mount_port = static_cast<std::uint16_t>(std::atoi(argv[2]));
  setting.path = argv[3];
  const auto iscsi = host_port(argv[4]);
  setting.iscsi = *wire::parse_address(iscsi.first, iscsi.second);
  setting.target = argv[5];
  setting.lun = std::atoi(argv[6]);
  const int rounds = argc > 7 ? std::atoi(argv[7]) : 5;
  if (argc > 8) setting.seconds = std::atof(argv[8]);
  const char* fio_program = std::getenv("FIO");

  const auto place = open_place(setting, "3");
  setting.range = std::min(setting.range, place->size());
  std::vector<Row> rows{
      {"send/recv loop", [&](unsigned depth) { return bare_nfs(setting, depth, place->handle(), setting.nfs); }},
      {"libnfs loop", [&](unsigned depth) { return libnfs(setting, depth); }}};
  if (fio_program != nullptr)
    rows.push_back({"fio nfs", [&](unsigned depth) { return fio(setting, depth, true, fio_program); }});
  for (const char* version : {"3", "4.0", "4.2"})
    rows.push_back({fmt::format("mountaudit NFSv{}", version),
                    [&, version](unsigned depth) { return ours_nfs(setting, depth, version); }});
  table("NFS READ 4 KiB", rows, rounds);

  rows = {{"send/recv loop", [&](unsigned depth) { return bare_iscsi(setting, depth); }},
          {"libiscsi loop", [&](unsigned depth) { return libiscsi(setting, depth); }},
          {"iscsi-perf", [&](unsigned depth) { return iscsi_perf(setting, depth); }}};
  if (fio_program != nullptr)
    rows.push_back({"fio libiscsi", [&](unsigned depth) { return fio(setting, depth, false, fio_program); }});
  rows.push_back({"mountaudit iSCSI", [&](unsigned depth) { return ours_iscsi(setting, depth); }});
  table("iSCSI READ 4 KiB", rows, rounds);

  wire_test::Peer instant(wire_test::serve(instant_answer));
  table(
      "NFS READ 4 KiB, answered at once in this process",
      {{"send/recv loop", [&](unsigned depth) { return bare_nfs(setting, depth, place->handle(), instant.address()); }},
       {"mountaudit NFSv3",
        [&](unsigned depth) {
          NfsEngine engine(place.get(), instant.address(), 3, 5);
          return run_engine(setting, engine, depth);
        }}},
      rounds);
  return 0;
}
