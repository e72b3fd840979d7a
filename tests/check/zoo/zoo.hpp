// This plug-in has all specimens of the bug zoo (specimen.hpp).
#pragma once

#include "tests/check/zoo/bitmaps.hpp"
#include "tests/check/zoo/combs.hpp"
#include "tests/check/zoo/counters.hpp"
#include "tests/check/zoo/free_lists.hpp"
#include "tests/check/zoo/gallatins.hpp"
#include "tests/check/zoo/leads.hpp"
#include "tests/check/zoo/pages.hpp"
#include "tests/check/zoo/rings.hpp"
#include "tests/check/zoo/splits.hpp"
#include "tests/check/zoo/warps.hpp"

namespace allocbench::zoo {

template <template <Form> class Specimen>
using Broken = Specimen<Form::broken>;
template <template <Form> class Specimen>
using Repaired = Specimen<Form::repaired>;

}  // namespace allocbench::zoo

ALLOCBENCH_REGISTER(
    zoo, zoo::Broken<zoo::LostUpdate>, zoo::Repaired<zoo::LostUpdate>, zoo::Broken<zoo::OffByOne>,
    zoo::Repaired<zoo::OffByOne>, zoo::Broken<zoo::LeakOnFailure>, zoo::Repaired<zoo::LeakOnFailure>,
    zoo::Broken<zoo::CounterOverflow>, zoo::Repaired<zoo::CounterOverflow>, zoo::Broken<zoo::DoubleHandOut>,
    zoo::Repaired<zoo::DoubleHandOut>, zoo::Broken<zoo::CountBeforeBit>, zoo::Repaired<zoo::CountBeforeBit>,
    zoo::Broken<zoo::RecycledPage>, zoo::Repaired<zoo::RecycledPage>, zoo::Broken<zoo::MisalignedSplit>,
    zoo::Repaired<zoo::MisalignedSplit>, zoo::Broken<zoo::AbaStack>, zoo::Repaired<zoo::AbaStack>,
    zoo::LockedList<zoo::LockBug::early_unlock>, zoo::LockedList<zoo::LockBug::missing_acquire>,
    zoo::LockedList<zoo::LockBug::missing_release>, zoo::LockedList<zoo::LockBug::forgotten_unlock>,
    zoo::LockedList<zoo::LockBug::none>, zoo::WarpBump<zoo::WarpBug::full_mask>,
    zoo::WarpBump<zoo::WarpBug::stale_leader>, zoo::WarpBump<zoo::WarpBug::lane_zero>,
    zoo::WarpBump<zoo::WarpBug::none>, zoo::Broken<zoo::BallotLoop>, zoo::Repaired<zoo::BallotLoop>,
    zoo::Broken<zoo::MissedMark>, zoo::Repaired<zoo::MissedMark>, zoo::Broken<zoo::RingWrap>,
    zoo::Repaired<zoo::RingWrap>, zoo::Broken<zoo::UnmergedBuddies>, zoo::Repaired<zoo::UnmergedBuddies>,
    zoo::Broken<zoo::LateHeader>, zoo::Repaired<zoo::LateHeader>, zoo::NullFree<zoo::NullBug::frees_slot>,
    zoo::NullFree<zoo::NullBug::clears_bit>, zoo::NullFree<zoo::NullBug::loses_slot>, zoo::NullFree<zoo::NullBug::none>,
    zoo::Broken<zoo::ForgetfulReset>, zoo::Repaired<zoo::ForgetfulReset>, zoo::Broken<zoo::CounterUnderflow>,
    zoo::Repaired<zoo::CounterUnderflow>, zoo::Comb<zoo::CombBug::unchecked_claim>,
    zoo::Comb<zoo::CombBug::partial_retirement>, zoo::Comb<zoo::CombBug::late_class>,
    zoo::Comb<zoo::CombBug::kept_guess>, zoo::Comb<zoo::CombBug::none>,
    zoo::GallatinSlots<zoo::StaticBug::torn_context>, zoo::GallatinSlots<zoo::StaticBug::same_generation>,
    zoo::GallatinSlots<zoo::StaticBug::single_additions>, zoo::GallatinSlots<zoo::StaticBug::none>,
    zoo::OrderedBits<LlvmLibc>, zoo::OrderedBits<RocmDm>, zoo::OrderedBits<RocmDmGrouped>,
    zoo::OrderedBits<FlatterScatter>, zoo::Broken<zoo::RocmEarlyCount>, zoo::Repaired<zoo::RocmEarlyCount>,
    zoo::Broken<zoo::RocmSlowMaker>, zoo::Repaired<zoo::RocmSlowMaker>)
