#include "probes/wire/iscsi_luns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "audit/base/text.h"
#include "probes/wire/scsi.h"

namespace wire::iscsi {
namespace {

using facts::Fact;

constexpr unsigned most_attentions = 8;  // conditions that a fresh session reports before it answers
constexpr unsigned nops = 8;
constexpr std::uint32_t read_bytes = 4096;
constexpr std::uint32_t list_bytes = 16384;  // 2047 LUNs
constexpr std::uint32_t no_such_lun = 0x052500;
constexpr std::uint16_t page_bytes = 1024;

double us(io::Duration duration) { return std::chrono::duration<double, std::micro>(duration).count(); }

// The key alone counts: what a unit attention tells is over when it was told (SAM-5 section 5.14).
bool is_attention(const Failure& failure) {
  return failure.reason == Reason::scsi_status && failure.code >> 24 == 2 && (failure.code >> 16 & 0xf) == 6;
}

std::string words_of(const Failure& failure) {
  if (failure.reason != Reason::scsi_status) return failure.detail;
  if (failure.code >> 24 == 2) return scsi::sense_words(failure.code & 0xffffff);
  return failure.detail;
}

Outcome<ScsiAnswer> ask(Session& session, const Lun& lun, const Cdb& cdb, std::uint32_t bytes) {
  auto answer = session.command(lun, cdb, bytes);
  for (unsigned i = 0; !answer && is_attention(answer.error()) && i < most_attentions; ++i)
    answer = session.command(lun, cdb, bytes);
  return answer;
}

// Asks for a page or list, and decodes it.
template <class Decode>
auto ask_for(Session& session, const Lun& lun, const Cdb& cdb, std::uint32_t bytes, Decode decode)
    -> decltype(decode(View{})) {
  auto answer = ask(session, lun, cdb, bytes);
  if (!answer) return tl::unexpected(answer.error());
  return decode(View(answer->data));
}

template <class Decode>
auto ask_page(Session& session, const Lun& lun, std::uint8_t page, Decode decode) -> decltype(decode(View{})) {
  return ask_for(session, lun, scsi::inquiry_page(page, page_bytes), page_bytes, decode);
}

std::string alua_name(std::uint8_t tpgs) {
  switch (tpgs) {
    case 1: return "implicit";
    case 2: return "explicit";
    case 3: return "implicit and explicit";
    default: return "none";
  }
}

template <class T>
Fact<T> told(T value, bool is_told) {
  return is_told ? Fact<T>(std::move(value)) : Fact<T>::absent();
}

// One LUN, one question after the other.
class LunTalk {
 public:
  LunTalk(Session& session, const Lun& lun, const LunQuestions& questions)
      : session_(session), lun_(lun), questions_(questions) {
    answer_.lun.lun = answer_.path.lun = scsi::lun_text(lun);
    const auto number = scsi::lun_number(lun);
    answer_.lun.number = number ? Fact<std::uint64_t>(*number) : Fact<std::uint64_t>::absent();
    answer_.path.detail = Fact<std::string>::absent();
    answer_.path.sense = Fact<std::uint32_t>::absent();
    answer_.path.result = "ok";
  }

  LunAnswer run() {
    const auto inquiry =
        ask_for(session_, lun_, scsi::inquiry(96), 96, [](View data) { return scsi::decode_inquiry(data); });
    if (!inquiry) {
      failed(inquiry.error());
      return std::move(answer_);
    }
    describe(*inquiry);
    if (inquiry->qualifier != 0) return std::move(answer_);  // nothing is there to be asked further
    pages(inquiry->type == 0);
    if (inquiry->type != 0) return std::move(answer_);
    port_groups(*inquiry);
    ready();
    capacity();
    write_protect();
    reads();
    return std::move(answer_);
  }

 private:
  // A question that the LUN refuses is a fact; one that ends the session is the result of the LUN.
  void failed(const Failure& failure) {
    if (failure.reason == Reason::scsi_status) {
      if (failure.code >> 24 == 2) answer_.path.sense = failure.code & 0xffffff;
      answer_.path.gone = failure.code >> 24 == 2 && (failure.code & 0xffffff) == no_such_lun;
    }
    answer_.path.result = reason_name(failure.reason);
    answer_.path.detail = words_of(failure);
  }
  // True: go on with the next question.
  bool is_over(const Failure& failure) {
    if (failure.reason == Reason::scsi_status && (failure.code & 0xffffff) != no_such_lun) return false;
    if (failure.reason != Reason::scsi_status && !session_.broken() && failure.reason != Reason::async_logout)
      return false;  // an answer that does not decode costs itself
    failed(failure);
    over_ = true;
    return true;
  }

  void describe(const scsi::Inquiry& inquiry) {
    auto& lun = answer_.lun;
    lun.type = scsi::device_type_name(inquiry.type);
    lun.vendor = inquiry.vendor;
    lun.product = inquiry.product;
    lun.revision = inquiry.revision;
    lun.alua = alua_name(inquiry.tpgs);
    answer_.path.gone = inquiry.qualifier != 0;
    if (inquiry.qualifier == 0) return;
    answer_.path.result = reason_name(Reason::scsi_status);
    answer_.path.detail = fmt::format("no device at this LUN (peripheral qualifier {})", inquiry.qualifier);
  }

  bool has(std::uint8_t page) const { return std::find(pages_.begin(), pages_.end(), page) != pages_.end(); }

  void pages(bool disk) {
    const auto listed = ask_page(session_, lun_, 0x00, [](View data) { return scsi::decode_vpd_pages(data); });
    if (!listed) {
      is_over(listed.error());
      return;  // not known, rather than absent
    }
    pages_ = *listed;
    auto& lun = answer_.lun;
    if (!has(0x80)) lun.serial = Fact<std::string>::absent();
    if (!has(0x83)) {
      lun.wwid = Fact<std::string>::absent();
      lun.identifiers = Fact<std::vector<std::string>>::absent();
      answer_.path.wwid = Fact<std::string>::absent();
    }
    if (has(0x80)) serial();
    if (has(0x83) && !over_) designators();
    if (!disk || over_) return;
    limits();
    if (!over_) characteristics();
    if (!over_) provisioning();
  }

  void serial() {
    const auto serial = ask_page(session_, lun_, 0x80, [](View data) { return scsi::decode_vpd_serial(data); });
    if (serial) {
      answer_.lun.serial = told(*serial, !serial->empty());
    } else {
      is_over(serial.error());
    }
  }

  void designators() {
    const auto all = ask_page(session_, lun_, 0x83, [](View data) { return scsi::decode_vpd_designators(data); });
    if (!all) {
      is_over(all.error());
      return;
    }
    std::vector<std::string> own;
    answer_.path.group = Fact<std::uint32_t>::absent();
    answer_.path.port = Fact<std::uint32_t>::absent();
    for (const auto& item : *all) {
      if (item.association == 0) own.push_back(item.text);
      if (item.association == 1 && item.type == 5) answer_.path.group = item.number;
      if (item.association == 1 && item.type == 4) answer_.path.port = item.number;
    }
    answer_.lun.identifiers = std::move(own);
    const auto* best = scsi::best_designator(*all);
    answer_.lun.wwid = best != nullptr ? Fact<std::string>(best->text) : Fact<std::string>::absent();
    answer_.path.wwid = answer_.lun.wwid;
  }

  // In blocks until the capacity is known.
  void limits() {
    if (!has(0xb0)) return;
    const auto limits = ask_page(session_, lun_, 0xb0, [](View data) { return scsi::decode_vpd_block_limits(data); });
    if (limits) {
      limits_ = *limits;
    } else {
      is_over(limits.error());
    }
  }

  void characteristics() {
    if (!has(0xb1)) {
      answer_.lun.rotation_rate = Fact<std::uint32_t>::absent();
      return;
    }
    const auto page = ask_page(session_, lun_, 0xb1, [](View data) { return scsi::decode_vpd_characteristics(data); });
    if (page) {
      answer_.lun.rotation_rate = told<std::uint32_t>(page->rotation_rate, page->rotation_rate != 0);
    } else {
      is_over(page.error());
    }
  }

  void provisioning() {
    if (!has(0xb2)) {
      answer_.lun.unmap = Fact<bool>::absent();
      answer_.lun.provisioning = Fact<std::string>::absent();
      return;
    }
    const auto page = ask_page(session_, lun_, 0xb2, [](View data) { return scsi::decode_vpd_provisioning(data); });
    if (!page) {
      is_over(page.error());
      return;
    }
    answer_.lun.unmap = page->unmap;
    answer_.lun.provisioning = std::string(page->type == 2   ? "thin"
                                           : page->type == 1 ? "resource"
                                           : page->type == 0 ? "full"
                                                             : "unknown");
  }

  void port_groups(const scsi::Inquiry& inquiry) {
    if (over_) return;
    if (inquiry.tpgs == 0) {
      answer_.lun.port_groups = Fact<std::vector<facts::IscsiPortGroup>>::absent();
      answer_.path.state = Fact<std::string>::absent();
      return;
    }
    const auto groups = ask_for(session_, lun_, scsi::report_target_port_groups(page_bytes), page_bytes,
                                [](View data) { return scsi::decode_port_groups(data); });
    if (!groups) {
      is_over(groups.error());
      return;
    }
    std::vector<facts::IscsiPortGroup> out;
    for (const auto& group : *groups) {
      facts::IscsiPortGroup& one = out.emplace_back();
      one.id = group.id;
      one.state = scsi::access_state_name(group.state);
      one.preferred = group.preferred;
      one.ports.assign(group.ports.begin(), group.ports.end());
      if (answer_.path.group.is(group.id)) answer_.path.state = one.state;
    }
    answer_.lun.port_groups = std::move(out);
  }

  void ready() {
    if (over_) return;
    auto first = ask(session_, lun_, scsi::test_unit_ready(), 0);
    if (!first) {
      answer_.path.ready = words_of(first.error());
      is_over(first.error());
      return;
    }
    answer_.path.ready = std::string("ok");
    is_ready_ = true;
    std::vector<double> times;
    for (unsigned i = 0; i < questions_.readies; ++i) {
      const auto answer = session_.command(lun_, scsi::test_unit_ready(), 0);
      if (answer) {
        times.push_back(us(answer->took));
      } else if (is_over(answer.error())) {
        break;
      }
    }
    if (!times.empty()) answer_.path.tur_p50_us = median(std::move(times));
  }

  void capacity() {
    if (over_) return;
    const auto capacity = ask_for(session_, lun_, scsi::read_capacity16(32), 32,
                                  [](View data) { return scsi::decode_read_capacity16(data); });
    if (!capacity) {
      is_over(capacity.error());
      return;
    }
    auto& lun = answer_.lun;
    const std::uint64_t block = capacity->block_bytes;
    block_bytes_ = capacity->block_bytes;
    blocks_ = capacity->blocks;
    lun.size_bytes = capacity->blocks * block;
    lun.block_bytes = capacity->block_bytes;
    lun.physical_block_bytes = block << capacity->physical_exponent;
    lun.lowest_aligned_bytes = capacity->lowest_aligned_block * block;
    lun.thin = capacity->thin;
    if (has(0x00) && !has(0xb0)) limits_ = scsi::BlockLimits{};  // without the page nothing is told
    if (!limits_) return;
    lun.optimal_transfer_bytes = told(limits_->optimal_transfer_blocks * block, limits_->optimal_transfer_blocks != 0);
    lun.maximum_transfer_bytes = told(limits_->maximum_transfer_blocks * block, limits_->maximum_transfer_blocks != 0);
    lun.unmap_granularity_bytes =
        told(limits_->unmap_granularity_blocks * block, limits_->unmap_granularity_blocks != 0);
  }

  void write_protect() {
    if (over_) return;
    const auto protect = ask_for(session_, lun_, scsi::mode_sense6(0x3f, 192), 192,
                                 [](View data) { return scsi::decode_write_protect(data); });
    if (protect) {
      answer_.lun.write_protected = *protect;
    } else {
      is_over(protect.error());
    }
  }

  void reads() {
    answer_.path.read_p50_us = answer_.path.read_max_us = Fact<double>::absent();
    answer_.path.reads = Fact<std::uint32_t>::absent();
    const std::uint32_t each = block_bytes_ == 0 ? 0 : std::max(read_bytes / block_bytes_, 1U);
    if (over_ || !is_ready_ || questions_.reads == 0 || each == 0 || blocks_ < each) return;
    const std::uint64_t places = blocks_ / each;
    const std::uint64_t step = std::max<std::uint64_t>(places / questions_.reads, 1);
    std::vector<double> times;
    for (unsigned i = 0; i < questions_.reads; ++i) {
      const auto answer = ask(session_, lun_, scsi::read16(i * step % places * each, each), each * block_bytes_);
      if (!answer) {
        if (!is_over(answer.error())) {
          answer_.path.result = reason_name(answer.error().reason);
          answer_.path.detail = "READ: " + words_of(answer.error());
          if (answer.error().code >> 24 == 2) answer_.path.sense = answer.error().code & 0xffffff;
        }
        break;
      }
      if (i != 0 || questions_.reads == 1) times.push_back(us(answer->took));  // the first one finds its way
    }
    if (times.empty()) return;
    answer_.path.reads = static_cast<std::uint32_t>(times.size());
    answer_.path.read_max_us = *std::max_element(times.begin(), times.end());
    answer_.path.read_p50_us = median(std::move(times));
  }

  Session& session_;
  Lun lun_;
  const LunQuestions& questions_;
  LunAnswer answer_;
  std::vector<std::uint8_t> pages_;
  std::optional<scsi::BlockLimits> limits_;
  std::uint32_t block_bytes_ = 0;
  std::uint64_t blocks_ = 0;
  bool is_ready_ = false;
  bool over_ = false;
};

LunAnswer not_asked(const Lun& lun, std::string why) {
  LunAnswer answer;
  answer.lun.lun = answer.path.lun = scsi::lun_text(lun);
  const auto number = scsi::lun_number(lun);
  answer.lun.number = number ? Fact<std::uint64_t>(*number) : Fact<std::uint64_t>::absent();
  answer.path.result = reason_name(Reason::not_asked);
  answer.path.detail = std::move(why);
  return answer;
}

}  // namespace

double median(std::vector<double> values) {
  const std::size_t middle = (values.size() - 1) / 2;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(middle), values.end());
  return values[middle];
}

std::optional<Lun> lun_of_text(std::string_view text) {
  if (text.starts_with("0x")) {
    if (text.size() != 18) return std::nullopt;
    const auto number = base::number<std::uint64_t>(text.substr(2), 16);
    if (!number) return std::nullopt;
    Lun lun = {};
    for (std::size_t i = 0; i < lun.size(); ++i) lun[i] = static_cast<std::uint8_t>(*number >> (56 - 8 * i));
    return lun;
  }
  const auto number = base::number<std::uint16_t>(text);
  if (!number || *number > 0x3fff) return std::nullopt;
  return scsi::lun_of(*number);
}

LunsAnswer ask_luns(Session& session, const LunQuestions& questions) {
  LunsAnswer out;
  struct Wanted {
    Lun lun;
    bool listed;
  };
  std::vector<Wanted> wanted;
  // LUN 0 answers for the target, also where it is no device (SPC-4 section 6.33).
  const auto listed = ask_for(session, {}, scsi::report_luns(list_bytes), list_bytes,
                              [](View data) { return scsi::decode_report_luns(data); });
  if (!listed) out.listing = listed.error();
  if (listed && !questions.only_numbers)
    for (const auto& lun : *listed) wanted.push_back({lun, true});
  for (const auto& text : questions.numbers) {
    const auto lun = lun_of_text(text);
    if (!lun) continue;
    const bool known = std::any_of(wanted.begin(), wanted.end(),
                                   [&](const Wanted& one) { return scsi::lun_text(one.lun) == scsi::lun_text(*lun); });
    if (known) continue;
    const bool is_listed = listed && std::any_of(listed->begin(), listed->end(), [&](const Lun& one) {
                             return scsi::lun_text(one) == scsi::lun_text(*lun);
                           });
    wanted.push_back({*lun, is_listed});
  }
  std::vector<double> pings;
  for (unsigned i = 0; i < nops && !session.broken(); ++i) {
    const auto took = session.ping();
    if (!took) break;
    if (i != 0) pings.push_back(us(*took));
  }
  if (!pings.empty()) out.nop_p50_us = median(std::move(pings));
  std::size_t asked = 0;
  std::optional<Failure> ended;
  for (const auto& one : wanted) {
    if (!ended && session.broken()) ended = *session.broken();
    LunAnswer answer;
    if (ended) {
      answer = not_asked(one.lun, "the session ended before: " + to_text(*ended));
    } else if (asked == questions.most_luns) {
      answer = not_asked(one.lun, fmt::format("{} LUNs of one target are asked at most", questions.most_luns));
    } else {
      ++asked;
      answer = LunTalk(session, one.lun, questions).run();
      if (answer.path.result == reason_name(Reason::async_logout)) ended = Failure{Reason::async_logout, {}};
    }
    if (listed) answer.path.listed = one.listed;
    out.luns.push_back(std::move(answer));
  }
  return out;
}

}  // namespace wire::iscsi
