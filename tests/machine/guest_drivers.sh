#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Part of guest.sh: scenarios of machines with PMUs of other makers, each with its own driver.
# Slots 0 and 1 are what memory of socket 0 reads and writes, 2 and 3 that of socket 1.

# every EVENT...: of each such PMU, as options
every() {
	for pmu in "$PMUS"/ampere_mcu_pmu_* "$PMUS"/hisi_sccl* "$PMUS"/arm_cmn_*; do
		[ -e "$pmu" ] || continue
		for event; do spec "${pmu##*/}/$event/"; done
	done
}

# driver_trace NAME ARG...: as trace, with rows of the test's own where the program has none
ROWS=
driver_trace() {
	rows_of=$1
	shift
	# shellcheck disable=SC2086  # none or two words
	trace "$rows_of" ${ROWS:+--platform $ROWS} "$@"
}

# counts_loads NAME: programs of every kind at once, on both sockets, in whole lines of 64 bytes;
# what they did is in the file NAME. MORE_SLOTS have one more each.
MORE_SLOTS=
counts_loads() {
	truth=$1
	traffic --name read0 --report "$truth" --slot 0 --per-iter 2097152 --cpu 0 --cgroup drv/one --seconds 1.5 &
	traffic --name write0 --report "$truth" --slot 1 --per-iter 700032 --cpu 1 --cgroup drv/two --duty 20/30 --seconds 1.5 &
	traffic --name read1 --report "$truth" --slot 2 --per-iter 3200000 --cpu 2 --cgroup drv/three --threads 2 --seconds 1.5 &
	traffic --name write1 --report "$truth" --slot 3 --per-iter 64 --cpu 3 --cgroup drv/one --seconds 1 &
	more_loads=0
	for slot in $MORE_SLOTS; do
		traffic --name slot"$slot" --report "$truth" --slot "$slot" --per-iter $((64000 * slot)) --duty 2/18 --seconds 1 &
		more_loads=$((more_loads + 1))
	done
	until_true has_lines "$truth" $((5 + more_loads))
}

# driver_counts EVENT...: what our counters say, and perf beside them where two may count at a time
driver_counts() {
	taskset -p $ANYWHERE $$ > /dev/null
	driver_trace all -a -i 300
	# shellcheck disable=SC2046  # options
	[ "$BESIDE" = no ] || perf_counts $(every "$@")
	counts_loads truth
	[ "$BESIDE" = no ] || perf_release
	# Where an event has one counter, it is ours as long as we count
	# shellcheck disable=SC2046
	[ "$BESIDE" = yes ] || perf stat -x, -o refused.csv -a $(every "$@") -- usleep 300000
	trace_end TERM
	if [ "$BESIDE" = no ]; then
		# shellcheck disable=SC2046
		perf_counts $(every "$@")
		counts_loads alone
		perf_release
	fi
	taskset -p $SOCKET0 $$ > /dev/null
}

scenario_ampereone_counts() { BESIDE=yes driver_counts rd_rda_sent wr_wra_sent; }
scenario_kunpeng_counts() { BESIDE=no driver_counts flux_rd flux_wr; }
scenario_cmn_counts() {
	MORE_SLOTS="4 5 6 7 8 9"
	BESIDE=yes driver_counts hnf_mc_reqs rnid_rxdat_flits rnid_txdat_flits sbsx_txdat_flitv
	MORE_SLOTS=''
}

# Root ports have one counter each: one event of each at a time, then two in turns
scenario_ampereone_ports() {
	ROWS=$PWD/rows
	cat > rows <<-END
	{ "schema": "t410trace.platform/1", "platform": "ports", "title": "root ports", "pmus": [
	  { "pmu": "dwc_rootport_<x>", "name": "port", "title": "root ports", "socket": "cpus", "from": "dwc_pcie_pmu.c",
	    "rows": [ { "event": "tx_pcie_tlp_data_payload", "bytes": 1, "direction": "read", "source": "device",
	                "destination": "cmem", "from": "dwc_pcie_pmu.c" },
	              { "event": "rx_pcie_tlp_data_payload", "bytes": 1, "direction": "write", "source": "device",
	                "destination": "cmem", "from": "dwc_pcie_pmu.c" } ] } ] }
	END
	cat > loads <<-END
	for slot in 4 6 7; do
		traffic --name port --report \$1 --slot \$slot --per-iter 64000 --seconds 0.5
	done
	END
	list=$(spec dwc_rootport_10000/tx_pcie_tlp_data_payload/ dwc_rootport_20000/tx_pcie_tlp_data_payload/ \
		dwc_rootport_30000/rx_pcie_tlp_data_payload/)
	# shellcheck disable=SC2086  # a list
	run_stat ports --platform "$ROWS" $list -- sh loads truth
	# shellcheck disable=SC2086
	perf stat -x, -o perf.csv -a $list -- sh loads beside
	driver_trace all -a -i 1000
	for slot in 4 5; do
		traffic --name turns --report turns --slot $slot --rate 640000 --cpu $((slot - 4)) --seconds 4 &
	done
	until_true has_lines turns 2
	trace_end TERM
	ROWS=''
	# The program's own rows show them as parts beside the total. A host that stops a CPU while turns
	# change uses up the usual budget for seconds, and a direction may then have no turn at all.
	driver_trace parts -a -i 1000 --read-budget 100
	for slot in 4 5; do
		traffic --name part --report part --slot $slot --rate 640000 --cpu $((slot - 4)) --seconds 4 &
	done
	until_true has_lines part 2
	trace_end TERM
	# -D: a device alone below its port, and one of several below another
	driver_trace devices -a -i 1000 --read-budget 100 -D 0001:01:00.0 -D 0002:04:00.0
	for slot in 4 5 6; do
		traffic --name device --report device --slot $slot --rate $((160000 * slot)) --cpu $((slot - 4)) --seconds 4 &
	done
	until_true has_lines device 3
	trace_end TERM
}

# driver_rows: three who share socket 1, then one that is followed, then a cgroup
driver_rows() {
	driver_trace all -a -i 1000
	tenants 6 6400000 64000000 640000000
	trace_end TERM

	held one traffic --name one --report truth2 --slot 2 --rate 64000000 --cpu 2 --seconds 1
	# shellcheck disable=SC2154  # set by held
	driver_trace one -p "$held" -i 300
	release one
	trace_ended

	mkdir -p $CGROUPS/only
	driver_trace only -G only -i 300
	traffic --name in --report truth3 --slot 2 --rate 64000000 --cpu 2 --cgroup only --seconds 0.8
	usleep 100000
	traffic --name out --report truth3 --slot 2 --rate 64000000 --cpu 2 --cgroup outside --seconds 0.8
	trace_end TERM
}

scenario_ampereone_rows() { driver_rows; }
scenario_kunpeng_rows() { driver_rows; }
scenario_cmn_rows() { driver_rows; }

# Counters of 32 bits that interrupt many times. The program is on the CPU that reads them, which
# takes the interrupt: nothing moves while the driver is at it.
driver_wraps() { # BYTES_PER_STORE
	driver_trace all -a -i 300
	grep -E 'HISI|ARMHC' /proc/interrupts > interrupts.before
	load wraps --slot 0 --per-iter "$1" --cpu 0 --seconds 1.5
	load wraps --slot 2 --per-iter "$1" --cpu 2 --seconds 1.5
	grep -E 'HISI|ARMHC' /proc/interrupts > interrupts.after
	trace_end TERM
}

scenario_kunpeng_wraps() { driver_wraps 4294967296; }
# Counters of 32 bits for what overflows 16 bits. The driver sets them back at each reading, so they
# interrupt only where nobody reads.
scenario_cmn_wraps() {
	driver_wraps 281474976710656
	# shellcheck disable=SC2046  # options
	perf_counts $(every hnf_mc_reqs)
	for n in 0 2; do
		traffic --name alone --report alone --slot $n --per-iter 281474976710656 --cpu $n --seconds 1.5
	done
	grep ARMHC /proc/interrupts > interrupts.after
	perf_release
}

# driver_hotplug CPU PMU BUSY SLOT: CPU, which reads that PMU, goes and comes back, while a program
# works on CPU BUSY of the same socket
driver_hotplug() {
	cpu=/sys/devices/system/cpu/cpu$1/online
	cat "$PMUS/$2/cpumask" > cpumask.before
	driver_trace all -a -i 500
	traffic --name steady --report truth --slot "$4" --per-iter 64000 --cpu "$3" --seconds 300 &
	steady=$!
	sleep 1
	echo 0 > "$cpu"
	cat "$PMUS/$2/cpumask" > cpumask.off
	usleep 1500000
	echo 1 > "$cpu"
	goes_on $steady
	trace_end TERM
}

scenario_cmn_hotplug() { driver_hotplug 2 arm_cmn_1 3 2; }
scenario_ampereone_hotplug() { driver_hotplug 2 ampere_mcu_pmu_8 3 2; }
# The CPUs of QEMU are all of die 0, so only socket 0 is as on hardware (acpi/kunpeng.py)
scenario_kunpeng_hotplug() { driver_hotplug 0 hisi_sccl0_ddrc0 1 0; }
