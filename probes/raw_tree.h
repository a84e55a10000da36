// `collect --raw DIR`: the texts that the facts were made from, under their paths, for `--root DIR`.
//
//   DIR/proc/1/mountinfo ...            files as read (scrubbed: probes/host/scrub_file.h)
//   DIR/mountaudit/cmd/NAME.txt         output of commands
//   DIR/mountaudit/kernel/QUESTION.txt  what the kernel answered (probes/io/netlink.h, probes/host/tasks.h)
//   DIR/mountaudit/manifest.json        mountaudit.manifest/1: time, node, status of what could not be read, listings
//   DIR/mountaudit/earlier/             the first of two samples, in the same form
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "audit/base/result.h"
#include "probes/io/host.h"
#include "probes/redact.h"

namespace probes {

// Passes everything through to another Host and remembers it.
class RecordingHost : public Host {
 public:
  explicit RecordingHost(const Host& host);
  ~RecordingHost() override;

  base::Result<std::string> read(std::string_view path) const override;
  base::Result<std::vector<std::string>> list(std::string_view path) const override;
  base::Result<std::string> link(std::string_view path) const override;
  base::Result<std::string> command(std::string_view name) const override;
  base::Result<std::string> answer(std::string_view question) const override;
  bool live() const override;
  std::string root() const override;
  Clock clock() const override;
  std::unique_ptr<Host> earlier() const override;
  std::string name_of(std::string_view path) const override;
  std::vector<facts::Source> own_rows() const override;
  std::vector<GivenText> given(std::string_view kind) const override;
  facts::Fact<std::string> node_name() const override;

  // What is read from now on belongs to the second sample; what the first one read becomes mountaudit/earlier.
  void begin_second_sample();
  // There was no second sample to be had: the first one is the only one again.
  void forget_second_sample();

  // Writes the tree, with stand-ins where `redactor` is given (it has learned the facts). `node_name` as in the facts.
  // DIR is made with mode 0700, files have 0600; a directory that is not empty is refused.
  base::Result<void> write(const std::string& directory, const std::string& node_name,
                           Redactor* redactor = nullptr) const;

 private:
  struct Record;
  const Host& host_;
  std::unique_ptr<Record> record_;
};

}  // namespace probes
