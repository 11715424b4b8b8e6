"""The simulator's rules in plain Python: slow, line by line, for small cases only.

Caches hold lines, not rows; ports are dictionaries; nothing is shared with the C code but
the rules, which docs/simulator.md states.
"""

from collections import defaultdict

BIN = 50_000


class LineCache:
    """Set-associative LRU over line addresses; a row's lines are touched one by one."""

    def __init__(self, sets, ways):
        self.sets, self.ways = sets, ways
        self.content = defaultdict(list)  # set -> [(line, dirty)], most recent first
        self.line_hits = self.line_misses = 0

    def touch_line(self, line, dirty):
        held = self.content[line % self.sets]
        for position, (other, _) in enumerate(held):
            if other == line:
                held.insert(0, (line, held.pop(position)[1] or dirty))
                self.line_hits += 1
                return True, None
        self.line_misses += 1
        held.insert(0, (line, dirty))
        return False, held.pop() if len(held) > self.ways else None

    def touch_row(self, row, lines, dirty=False):
        """(hit, dirty victim row or None); all lines of a row must agree."""
        outcomes = [self.touch_line(row * lines + k, dirty) for k in range(lines)]
        assert len({hit for hit, _ in outcomes}) == 1, "a row was held in part"
        victims = {None if v is None else (v[0] // lines, v[1]) for _, v in outcomes}
        assert len(victims) == 1, "a row was evicted in part"
        victim = victims.pop()
        return outcomes[0][0], victim[0] if victim and victim[1] else None

    def dirty_lines(self):
        return sum(dirty for held in self.content.values() for _, dirty in held)


class Port:
    """Channels whose busy time is kept in bins."""

    def __init__(self):
        self.busy = defaultdict(int)

    def occupy(self, channels, each, at):
        bin_ = at // BIN
        most = max(self.busy[bin_, c] for c in channels)
        while most >= BIN:
            bin_ += 1
            most = max(self.busy[bin_, c] for c in channels)
        for channel in channels:
            left, place = each, bin_
            while left > 0:
                placed = min(left, BIN - self.busy[place, channel])
                self.busy[place, channel] += placed
                left -= placed
                place += 1
        return at if bin_ == at // BIN else max(at, bin_ * BIN + most)


class Element:
    def __init__(self, window):
        self.now = 0
        self.stations = [0] * window
        self.registers = []  # [(row, dirty)] other than the current one, most recent first
        self.current = None
        self.dirty = []
        self.r_ready = self.output_ready = 0
        self.tile = None  # (start, end, position, groups issued)
        self.groups = {}


def mixed(number):
    return (number ^ number >> 4 ^ number >> 9) & 0xFFFFFFFF


class Reference:
    """One simulation; ``run()`` returns seconds in ps and counts, as the C code's totals."""

    def __init__(self, machine, tiling, operation, rows, cols, lines, bypass, slices):
        self.m, self.t, self.spmm = machine, tiling, operation == "spmm"
        self.rows, self.cols, self.lines, self.bypass = rows, cols, lines, bypass
        self.slices = slices
        m = machine
        self.elements = [Element(max(1, m.window // lines)) for _ in range(m.pes)]
        self.l1 = [LineCache(m.l1_sets, m.l1_ways) for _ in self.elements]
        has_victim = bypass and m.vc_sets
        self.victim = [LineCache(m.vc_sets, m.vc_ways) if has_victim else None for _ in self.l1]
        groups = -(-m.pes // m.pes_per_l2)
        self.l2 = [LineCache(m.l2_sets, m.l2_ways) if m.l2_sets else None for _ in range(groups)]
        self.llc = LineCache(m.llc_sets, m.llc_ways) if m.llc_sets else None
        self.memory, self.l2_port, self.llc_port = Port(), Port(), Port()
        self.counts = defaultdict(int)
        self.owner = {}
        self.slice = 0

    # memory and caches, by row

    def memory_row(self, row, kind, at):
        self.counts[kind] += self.lines
        wide = min(self.lines, self.m.channels)
        group = mixed(row + 1) % (self.m.channels // wide)
        each = -(-self.lines * self.m.line_ps // wide)
        channels = range(group * wide, (group + 1) * wide)
        return self.memory.occupy(channels, each, at) + self.m.link_ps + self.m.dram_ps

    def memory_line(self, line, stream, kind, at):
        self.counts[kind] += 1
        channel = mixed(line + 5 * stream) % self.m.channels
        start = self.memory.occupy([channel], self.m.line_ps, at)
        return start + self.m.link_ps + self.m.dram_ps

    def write_llc(self, row, at):
        if self.llc is None:
            self.memory_row(row, "r_written", at)
            return
        _, victim = self.llc.touch_row(row, self.lines, True)
        if victim is not None:
            self.memory_row(victim, "r_written", at)

    def write_l2(self, p, row, at):
        l2 = self.l2[p // self.m.pes_per_l2]
        if l2 is None:
            self.write_llc(row, at)
            return
        _, victim = l2.touch_row(row, self.lines, True)
        if victim is not None:
            self.write_llc(victim, at)

    def read_cached(self, p, row, kind):
        m, at = self.m, self.elements[p].now
        hit, victim = self.l1[p].touch_row(row, self.lines)
        if hit:
            return at + m.l1_ps
        if victim is not None:
            self.write_l2(p, victim, at)
        group = p // m.pes_per_l2
        if self.l2[group] is not None:
            at = self.through(self.l2_port, group, m.l2_line_fs, at)
            hit, victim = self.l2[group].touch_row(row, self.lines)
            if hit:
                return at + m.l2_ps
            if victim is not None:
                self.write_llc(victim, at)
        if self.llc is not None:
            at = self.through(self.llc_port, 0, m.llc_line_fs, at)
            hit, victim = self.llc.touch_row(row, self.lines)
            if hit:
                return at + m.llc_ps
            if victim is not None:
                self.memory_row(victim, "r_written", at)
        return self.memory_row(row, kind, at + m.lookup_ps)

    def through(self, port, channel, line_fs, at):
        each = self.lines * line_fs // 1000
        return port.occupy([channel], each, at) if each else at

    def read_bypassing(self, p, row):
        at = self.elements[p].now
        if self.victim[p] is not None:
            hit, victim = self.victim[p].touch_row(row, self.lines)
            if hit:
                return at + self.m.vc_ps
            if victim is not None:
                self.memory_row(victim, "r_written", at)
        return self.memory_row(row, "r_read", at)

    def write_row(self, p, row):
        at = self.elements[p].now
        if not self.bypass:
            _, victim = self.l1[p].touch_row(row, self.lines, True)
            if victim is not None:
                self.write_l2(p, victim, at)
        elif self.victim[p] is None:
            self.memory_row(row, "r_written", at)
        else:
            _, victim = self.victim[p].touch_row(row, self.lines, True)
            if victim is not None:
                self.memory_row(victim, "r_written", at)

    # vector registers

    def into_registers(self, p, row, dirty):
        e = self.elements[p]
        for position, (held, _) in enumerate(e.registers):
            if held == row:
                e.registers.insert(0, (row, e.registers.pop(position)[1] or dirty))
                return True
        e.registers.insert(0, (row, dirty))
        if len(e.registers) > max(1, self.m.registers // self.lines - 1):
            old, was_dirty = e.registers.pop()
            if was_dirty:
                if old in e.dirty:
                    e.dirty.remove(old)
                self.write_row(p, old)
        return False

    def retire(self, p):
        e = self.elements[p]
        if e.current is None:
            return
        self.into_registers(p, e.current, self.spmm)
        if self.spmm:
            e.dirty.append(e.current)
            if len(e.dirty) * self.lines > self.m.dirty_high:
                while e.dirty and len(e.dirty) * self.lines > self.m.dirty_low:
                    row = e.dirty.pop(0)
                    e.registers = [(r, d and r != row) for r, d in e.registers]
                    self.write_row(p, row)
        e.current = None

    def change_row(self, p, row):
        e = self.elements[p]
        self.retire(p)
        held = [d for r, d in e.registers if r == row]
        e.registers = [(r, d) for r, d in e.registers if r != row]
        e.current = row
        if self.spmm:
            e.output_ready = 0
        if held:
            if held[0]:
                e.dirty.remove(row)
            e.r_ready = e.now
        elif self.bypass:
            e.r_ready = self.read_bypassing(p, row)
        else:
            e.r_ready = self.read_cached(p, row, "r_read")

    # the pipeline

    def request_group(self, e, group, at):
        ready = at
        for stream in range(3):
            when = at + stream * self.m.cycle_ps
            ready = max(ready, self.memory_line(group, stream, "sparse_read", when))
        if not self.spmm and self.slice:
            ready = max(ready, self.memory_line(group, 3, "output_read", at + 3 * self.m.cycle_ps))
        e.groups[group] = ready

    def open_tile(self, p, tile):
        e = self.elements[p]
        start, end = int(self.t.tile_start[tile]), int(self.t.tile_start[tile + 1])
        first, last = start // 16, (end - 1) // 16
        ahead = min(last - first + 1, self.m.sparse_groups)
        for k in range(ahead):
            self.request_group(e, first + k, e.now + 3 * k * self.m.cycle_ps)
        e.tile = [tile, start, end, start, first + ahead]
        e.now = max(e.now, e.groups[first])

    def entry(self, p):
        m, e = self.m, self.elements[p]
        _, start, end, position, issued = e.tile
        e.tile[3] += 1
        if position % 16 == 0 and position != start:
            if issued <= (end - 1) // 16:
                self.request_group(e, issued, e.now)
                e.tile[4] += 1
            e.now = max(e.now, e.groups[position // 16])
        free = min(e.stations)
        e.now = max(e.now, free)
        base = self.slice * (self.rows + self.cols)
        row, col = base + int(self.t.row[position]), base + self.rows + int(self.t.col[position])
        if row != e.current:
            self.change_row(p, row)
        if not self.spmm and (position - start) % 16 == 0:
            e.output_ready = 0
        ready = e.now
        if self.into_registers(p, col, False):
            self.counts["vrf_hits"] += self.lines
        else:
            ready = self.read_cached(p, col, "c_read")
        begin = max(ready, e.r_ready, e.output_ready)
        e.stations[e.stations.index(free)] = begin + m.simd_ps
        e.output_ready = begin + max(m.simd_ps, self.lines * m.cycle_ps)
        e.now += self.lines * m.cycle_ps
        done = position + 1 - start
        if not self.spmm and (done % 16 == 0 or position + 1 == end):
            self.memory_line((position + 1) // 16, 3, "output_written", e.now)

    # the walk

    def run(self):
        for number in range(self.slices):
            self.slice = number
            for phase in range(len(self.t.phase_start) - 1):
                self.run_phase(phase)
        return max(e.now for e in self.elements) + self.flush()

    def run_phase(self, phase):
        m, panel_of = self.m, self.t.tile_panel
        first, end = int(self.t.phase_start[phase]), int(self.t.phase_start[phase + 1])
        own, common = defaultdict(list), []
        for tile in range(first, end):
            panel = int(panel_of[tile])
            if self.spmm and tile > first and panel == panel_of[tile - 1]:
                continue
            if not m.dynamic:
                own[panel % m.pes].append(tile)
            elif panel in self.owner:
                own[self.owner[panel]].append(tile)
            else:
                common.append(tile)
        running, until = set(range(m.pes)), self.elements[0].now
        for e in self.elements:
            e.tile = None
        while running:
            until += m.quantum_ps
            for p in sorted(running):
                e = self.elements[p]
                while e.now < until and p in running:
                    if e.tile is None or e.tile[3] == e.tile[2]:
                        following = self.following(p, e, end, own, common)
                        if following is None:
                            e.now = max(e.now, *e.stations)
                            running.discard(p)
                            continue
                        self.open_tile(p, following)
                    self.entry(p)
            if running:
                until = max(until, min(self.elements[p].now for p in running))
        latest = max(e.now for e in self.elements)
        for e in self.elements:
            e.now = latest

    def following(self, p, e, end, own, common):
        if e.tile is not None and self.spmm:
            tile = e.tile[0] + 1
            if tile < end and self.t.tile_panel[tile] == self.t.tile_panel[tile - 1]:
                return tile
        units = own[p] or common
        if not units:
            return None
        tile = units.pop(0)
        if self.spmm:
            self.owner[int(self.t.tile_panel[tile])] = p
        return tile

    def flush(self):
        most = written = 0
        for p, e in enumerate(self.elements):
            self.retire(p)
            for row in e.dirty:
                self.write_row(p, row)
            most = max(most, self.l1[p].dirty_lines())
            if self.victim[p] is not None:
                written += self.victim[p].dirty_lines()
            if self.llc is None and self.l2[0] is None:
                written += self.l1[p].dirty_lines()
        self.counts["r_written"] += written
        return max(most * self.m.cycle_ps, written * self.m.line_ps // self.m.channels)
