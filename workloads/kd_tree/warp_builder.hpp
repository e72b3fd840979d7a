// WarpBuilder is one warp of the build. The warp takes tasks until it gets the task `stop`.
//
// Each turn of run() counts sides, chooses a plane, requests the lists of the children, writes them and finishes the
// node. So the code contains every step only once, above all each call of the allocator. For a shared node the turn
// ends after the warp's part, and the warp that finishes the last part continues with the node.
//
// Only lane 0 calls the allocator. The other lanes wait at the next group operation.
//
// When memory runs out, nodes are dropped and their lists freed until no task is left, so every warp ends as usual. A
// faulty allocator may change lists during the build. So indices from lists are checked, and the fault causes a wrong
// tree but no access outside of the scene.
#pragma once

#include <bit>

#include "workloads/kd_tree/node_split.hpp"

namespace allocbench::kd_tree {

template <class Thread, class Session>
class WarpBuilder : NodeSplit<Thread> {
 public:
  SIMT_FN WarpBuilder(Thread& thread, Session& session, const BuildSetup& setup)
      : NodeSplit<Thread>(thread, setup), session_(session) {
    if (lane_ == 0) {
      scratch_.requests = {};
      scratch_.frees = scratch_.address_bits = scratch_.not_lowest = scratch_.end = 0;
    }
  }

  SIMT_FN void run() {
    if (warp_index_ == 0) {
      setup_.queue.put(thread_, warp_, 1, [&](std::uint32_t) { return root(); });
    }
    for (;;) {
      Task task = setup_.queue.take(thread_, warp_);
      if (task.kind() == TaskKind::stop) break;
      for (bool going_on = true; going_on;) going_on = turn(task);
      bool last = false;
      if (lane_ == 0) last = setup_.queue.finish(thread_);
      if (warp_.any(last)) {
        setup_.queue.put(thread_, warp_, setup_.warps, [](std::uint32_t) {
          Task stop{};
          stop.level = Task::level_of(TaskKind::stop, 0, 0, false);
          return stop;
        });
      }
    }
    if (lane_ == 0) add_totals();
  }

 private:
  using Base = NodeSplit<Thread>;
  using Base::add_sides;
  using Base::choose;
  using Base::count_sides;
  using Base::give_back;
  using Base::lane_;
  using Base::last_part;
  using Base::publish_split;
  using Base::scratch_;
  using Base::setup_;
  using Base::share;
  using Base::smaller;
  using Base::thread_;
  using Base::warp_;
  using Base::warp_index_;
  using Base::write_lists;

  SIMT_FN Task root() const {
    return {setup_.root_list,
            setup_.triangles,
            0,
            {setup_.bounds.low[0], setup_.bounds.low[1], setup_.bounds.low[2]},
            Task::level_of(TaskKind::node, 0, 0, false),
            {setup_.bounds.high[0], setup_.bounds.high[1], setup_.bounds.high[2]},
            0};
  }

  // Processes one node, or one part of a node. Returns true if `task` is a new task with which this warp continues.
  SIMT_FN bool turn(Task& task) {
    SharedNode* shared = nullptr;
    bool counting = true;
    std::uint32_t first = 0;
    std::uint32_t part_count = task.count;
    if (task.kind() == TaskKind::part) {
      shared = &setup_.shared_nodes[task.node];
      first = task.part * setup_.part_references;
      task = shared->task;
      part_count = smaller(task.count - first, setup_.part_references);
      counting = shared->splitting == 0;
    } else if (task.count > setup_.solo_references && share(task)) {
      return pop(task);
    }
    std::uint32_t out_of_memory = 0;
    if (lane_ == 0) out_of_memory = thread_.atomic(setup_.out_of_memory->word).load(simt::relaxed);
    const bool staged = shared == nullptr && task.count <= tile;

    Split split{};
    Children children{};
    std::uint32_t triangles[2] = {};  // triangles of the tile in shared memory
    if (counting) {
      Sides sides = count_sides(task, first, part_count, triangles);
      if (shared != nullptr && !add_sides(*shared, sides)) return pop(task);
      split = choose(task, sides, children.counts);
      const std::uint32_t failed = task.failed_splits() + (split.fails ? 1 : 0);
      const bool dropped = warp_.shfl_lane(out_of_memory, 0) != 0;
      if (dropped || failed > setup_.limits.failed_splits) {
        if (shared != nullptr) give_back(shared);
        if (!dropped) write_leaf(task.node, task.list, task.count);
        warp_.sync();
        free_lists(task.owns_list() ? task.list : nullptr, nullptr, nullptr);
        return pop(task);
      }
      if (children.counts.left == 0) {
        children.right = task.list;
      } else if (children.counts.right == 0) {
        children.left = task.list;
      } else {
        if (!allocate(children)) {
          if (shared != nullptr) give_back(shared);
          free_lists(task.owns_list() ? task.list : nullptr, children.left, nullptr);
          return pop(task);
        }
        if (shared != nullptr) {
          publish_split(shared, task, split, children);
          return pop(task);
        }
      }
    } else {
      split = {shared->plane, shared->position, shared->fails != 0};
      children = {shared->lists[0], shared->lists[1], {shared->counts[0], shared->counts[1]}};
    }
    if (children.left != task.list && children.right != task.list) {
      write_lists(task, first, part_count, split, children, shared, staged, triangles);
      if (!counting && !last_part(*shared)) return pop(task);
    }
    if (shared != nullptr) give_back(shared);
    return conclude(task, split, children);
  }

  // --- lists of the children

  // Requests the left list, then the right one. Returns false, with `right` null, if memory ran out.
  SIMT_FN bool allocate(Children& children) {
    SIMT_ROLLED for (std::uint32_t side = 0; side < 2; ++side) {
      const std::uint32_t count = side == 0 ? children.counts.left : children.counts.right;
      void* list = nullptr;
      if (lane_ == 0) {
        const std::uint64_t bytes = std::uint64_t{count} * sizeof(std::uint32_t);
        const std::uint64_t padding = setup_.padding_bytes - 1;
        list = session_.malloc(thread_, (bytes + padding) & ~padding);
        if (list != nullptr) {
          const auto address = reinterpret_cast<std::uint64_t>(list);
          scratch_.requests.add(bytes);
          scratch_.address_bits |= address;
          if (~address > scratch_.not_lowest) scratch_.not_lowest = ~address;
          if (address + bytes > scratch_.end) scratch_.end = address + bytes;
        } else {
          thread_.atomic(setup_.out_of_memory->word).store(count + 1, simt::relaxed);
        }
      }
      auto* const same = reinterpret_cast<std::uint32_t*>(warp_.shfl_lane(reinterpret_cast<std::uint64_t>(list), 0));
      if (side == 0) {
        children.left = same;
      } else {
        children.right = same;
      }
      if (same == nullptr) return false;
    }
    // The former owners read their blocks before lane 0 got these blocks. After this barrier all lanes may write.
    warp_.sync();
    return true;
  }

  // --- the end of a node

  // Finishes a node whose children's lists are complete. The node becomes a leaf, or an inner node whose children are
  // leaves or tasks. Returns true if `task` is now the warp's next task.
  SIMT_FN bool conclude(Task& task, const Split& split, const Children& children) {
    const bool handed_on = children.left == task.list || children.right == task.list;
    const std::uint32_t failed = task.failed_splits() + (split.fails ? 2 : 0);
    if (failed > setup_.limits.failed_splits) {
      write_leaf(task.node, task.list, task.count);
      warp_.sync();
      free_lists(task.owns_list() ? task.list : nullptr, handed_on ? nullptr : children.left,
                 handed_on ? nullptr : children.right);
      return pop(task);
    }
    const bool all_leaves = setup_.limits.children_are_leaves(task.depth());
    const bool left_is_leaf = all_leaves || children.counts.left <= largest_leaf;
    const bool right_is_leaf = all_leaves || children.counts.right <= largest_leaf;
    const std::uint32_t left_references = left_is_leaf ? children.counts.left : 0;
    const std::uint32_t right_references = right_is_leaf ? children.counts.right : 0;
    std::uint32_t pair = 0;
    std::uint32_t reference = 0;
    if (!reserve(1, left_references + right_references, pair, reference)) {
      free_lists(task.owns_list() ? task.list : nullptr, handed_on ? nullptr : children.left,
                 handed_on ? nullptr : children.right);
      return pop(task);
    }
    copy_references(reference, children.left, left_references);
    copy_references(reference + left_references, children.right, right_references);
    if (lane_ == 0) {
      setup_.nodes[task.node] = Node::of(split.plane, pair, std::bit_cast<std::uint32_t>(split.position));
      if (left_is_leaf) setup_.nodes[2 * pair] = Node::of(Node::leaf, reference, left_references);
      if (right_is_leaf) {
        setup_.nodes[2 * pair + 1] = Node::of(Node::leaf, reference + left_references, right_references);
      }
    }
    const bool owned = !handed_on || task.owns_list();
    Task left;
    Task right;
    make_tasks(task, split, children, pair, Task::level_of(TaskKind::node, task.depth() + 1, failed, owned), left,
               right);
    warp_.sync();  // all lanes have read the lists that are freed and written the lists that others take
    free_lists(!handed_on && task.owns_list() ? task.list : nullptr, left_is_leaf && owned ? children.left : nullptr,
               right_is_leaf && owned ? children.right : nullptr);
    if (left_is_leaf && right_is_leaf) return pop(task);
    if (!left_is_leaf && !right_is_leaf) push(right);
    task = left_is_leaf ? right : left;
    return true;
  }

  // Makes the tasks of the children.
  static SIMT_FN void make_tasks(const Task& task, const Split& split, const Children& children, std::uint32_t pair,
                                 std::uint32_t level, Task& left, Task& right) {
    const std::uint32_t axis = axis_of(split.plane);
    left = task;
    left.list = children.left;
    left.count = children.counts.left;
    left.node = 2 * pair;
    left.level = level;
    right = left;
    right.list = children.right;
    right.count = children.counts.right;
    right.node = 2 * pair + 1;
    SIMT_UNROLLED for (std::uint32_t each = 0; each < 3; ++each) {
      if (each != axis) continue;
      left.high[each] = split.position;
      right.low[each] = split.position;
    }
  }

  SIMT_FN void write_leaf(std::uint32_t node, const std::uint32_t* list, std::uint32_t count) {
    std::uint32_t pair = 0;
    std::uint32_t reference = 0;
    if (!reserve(0, count, pair, reference)) return;
    copy_references(reference, list, count);
    if (lane_ == 0) setup_.nodes[node] = Node::of(Node::leaf, reference, count);
  }

  // Reserves places in the output. Returns false if the tree is too large.
  SIMT_FN bool reserve(std::uint32_t pairs, std::uint32_t references, std::uint32_t& pair, std::uint32_t& reference) {
    std::uint64_t place = 0;
    if (lane_ == 0) {
      place = thread_.atomic(*setup_.used).fetch_add(std::uint64_t{pairs} << 32 | references, simt::relaxed);
    }
    place = warp_.shfl_lane(place, 0);
    pair = static_cast<std::uint32_t>(place >> 32) + 1;  // the first pair is the root's
    reference = static_cast<std::uint32_t>(place);
    if (pair + pairs <= setup_.most_pairs && reference + references <= setup_.most_references) return true;
    if (lane_ == 0) thread_.atomic(setup_.overflow->word).store(1u, simt::relaxed);
    return false;
  }

  SIMT_FN void copy_references(std::uint32_t first, const std::uint32_t* list, std::uint32_t count) {
    for (std::uint32_t i = lane_; i < count; i += simt::warp_size) setup_.leaf_references[first + i] = list[i];
  }

  // Frees those of the lists that are not null.
  SIMT_FN void free_lists(std::uint32_t* a, std::uint32_t* b, std::uint32_t* c) {
    if (lane_ == 0) {
      SIMT_ROLLED for (std::uint32_t i = 0; i < 3; ++i) {
        std::uint32_t* const list = i == 0 ? a : i == 1 ? b : c;
        if (list == nullptr) continue;
        session_.free(thread_, list);
        ++scratch_.frees;
      }
    }
  }

  // --- tasks

  // Puts a task into the queue, or keeps it if the queue has reached its limit (WorkQueue::room()).
  SIMT_FN void push(const Task& task) {
    bool room = false;
    if (lane_ == 0) room = setup_.queue.room(thread_);
    if (warp_.any(room)) {
      setup_.queue.put(thread_, warp_, 1, [&](std::uint32_t) { return task; });
      return;
    }
    if (lane_ == 0) setup_.stacks[std::size_t{warp_index_} * setup_.stack_slots + kept_] = task;
    ++kept_;
    warp_.sync();
  }

  // Takes the task that was kept last. Returns false if there is none.
  SIMT_FN bool pop(Task& task) {
    warp_.sync();
    if (kept_ == 0) return false;
    --kept_;
    task = setup_.stacks[std::size_t{warp_index_} * setup_.stack_slots + kept_];
    return true;
  }

  SIMT_FN void add_totals() {
    BuildTotals& totals = *setup_.totals;
    add(totals.requests.mallocs, scratch_.requests.mallocs);
    add(totals.requests.bytes, scratch_.requests.bytes);
    add(totals.requests.squares, scratch_.requests.squares);
    add(totals.requests.wrapped_squares, scratch_.requests.wrapped_squares);
    add(totals.frees, scratch_.frees);
    if (scratch_.address_bits == 0) return;
    thread_.atomic(totals.address_bits).fetch_or(scratch_.address_bits, simt::relaxed);
    thread_.atomic(totals.not_lowest).fetch_max(scratch_.not_lowest, simt::relaxed);
    thread_.atomic(totals.end).fetch_max(scratch_.end, simt::relaxed);
  }
  SIMT_FN void add(std::uint64_t& total, std::uint64_t value) {
    if (value != 0) thread_.atomic(total).fetch_add(value, simt::relaxed);
  }

  Session& session_;
  std::uint32_t kept_ = 0;  // number of tasks on the stack
};

}  // namespace allocbench::kd_tree
