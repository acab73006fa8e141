#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Part of guest.sh: scenarios of "t410trace stat". The traffic of most of them never stops;
# where it is finite, everything comes in multiples of FULL bytes (stat-finite-*.conf).

PMUS=/sys/bus/event_source/devices
FULL=2882880

# run_stat NAME ARG...: a run to its end, its reports in NAME.json. Readings and turns take
# twenty times as long as on hardware: where cost is not the topic, they may.
BUDGET=50
run_stat() {
	stat_name=$1
	shift
	timeout $PATIENCE "$T410TRACE" stat --json -o "$stat_name.json" --read-budget $BUDGET "$@" > "$stat_name.out" 2> "$stat_name.err"
	echo $? > "$stat_name.status"
}

# spec EVENT...: as options
spec() { for one; do printf -- '-e %s ' "$one"; done; }

# batch N SIZE: the Nth SIZE events of every PMU, as "PMU/EVENT/"; nothing when none has so many
batch() {
	for pmu in $PMUS/nvidia_*; do
		i=0
		for event in "$pmu"/events/*; do
			case $event in */cycles | */bus_cycles) continue ;; esac
			[ $((i / $2)) = "$1" ] && echo "${pmu##*/}/${event##*/}/"
			i=$((i + 1))
		done
	done
}

# shown: what each PMU offers, for the judge
shown() {
	for pmu in $PMUS/nvidia_*; do
		for event in "$pmu"/events/*; do echo "${pmu##*/} ${event##*/}"; done
	done > shown
}

# --- constant traffic

every_metric() {
	shown
	run_stat all -i 1000 -d 3 --summary
	said table "$T410TRACE" stat -d 1 --read-budget $BUDGET
}

# Every source with every destination, on one PMU: more than it has counters
scenario_stat_rates() {
	every_metric
	list=
	for src in src_loc_cpu src_loc_noncpu src_rem; do
		for dst in dst_loc_cmem dst_loc_gmem dst_loc_other dst_rem; do
			list="$list -e nvidia_ucf_pmu_0/mem_bytes_rd,$src=1,$dst=1/"
		done
	done
	# shellcheck disable=SC2086  # a list
	run_stat places -d 3 $list
}

# What an option chooses, and what it splits
scenario_stat_choice() {
	shown
	run_stat some -d 1 -M t410.ucf.mem_read_bandwidth,t410.cmem.read_latency
	run_stat socket -d 1 --socket 1 -M t410.ucf.mem_read_bandwidth
	run_stat ports -d 3 --per-port -M t410.pcie.read_bandwidth,t410.pcie.read_latency
	run_stat gpus -d 2 --per-gpu -M t410.nvlink_c2c.in_rd_latency
	run_stat alone -d 1 -e nvidia_ucf_pmu_0/event=0x123,src_loc_cpu=1/ -e nvidia_ucf_pmu_0/bus_cycles/ -e nvidia_pcie_pmu_0_rc_1/rd_bytes/
}

# More windows than a root complex has, and devices that only take turns
scenario_stat_windows() {
	list=
	for k in 0 1 2 3 4 5 6 7 8 9; do
		list="$list -e nvidia_pcie_tgt_pmu_0_rc_2/rd_bytes,dst_addr_base=0x80${k}000000,dst_addr_mask=0xfffffff000000,dst_addr_en=1/"
	done
	# shellcheck disable=SC2086  # a list
	run_stat windows -i 1000 -d 4 --summary $list
	rc=nvidia_pcie_pmu_0_rc_1
	run_stat devices -i 1000 -d 4 --summary -e $rc/rd_bytes,src_bdf=0xa100,src_bdf_en=1/ -e $rc/rd_bytes,src_bdf=0xc100,src_bdf_en=1/ \
		-e $rc/rd_bytes/
	run_stat bar -d 1 --window-of 0002:a1:00.0:BAR0
	# The machine has no BARs: a stand-in for the file that would tell of one
	bars=$(readlink -f /sys/bus/pci/devices/0002:a1:00.0)/resource
	sed '1s/.*/0x0000000042000000 0x0000000042ffffff 0x0000000000040200/' "$bars" > resource
	mount --bind resource "$bars"
	run_stat window -d 2 --window-of 0002:a1:00.0:BAR0
	umount "$bars"
	run_stat nobody -d 1 --window-of 0002:a1:1f.0:BAR0
	run_stat empty -d 1 -e nvidia_pcie_tgt_pmu_0_rc_2/rd_bytes,dst_addr_base=0,dst_addr_mask=0,dst_addr_en=1/
	run_stat cycles -d 1 -e nvidia_pcie_tgt_pmu_0_rc_2/cycles,dst_addr_base=0x1000,dst_addr_mask=0xff000,dst_addr_en=1/
}

# Ten readings a second of everything
scenario_stat_budget() {
	shown
	BUDGET=0.5
	run_stat often -i 100 -d 5 --summary
	run_stat short -d 2
	BUDGET=5
	run_stat generous -i 100 -d 3 --summary
	BUDGET=50
}

# Which of the other ends of a link there is, and what it shows
scenario_stat_peer_cpu() { every_metric; }
scenario_stat_peer_none() { every_metric; }
scenario_stat_grace_rates() {
	every_metric
	run_stat ports -d 2 -e nvidia_pcie_pmu_0/rd_bytes_loc,root_port=0x4/ -e nvidia_pcie_pmu_0/rd_bytes_loc,root_port=0x201/ \
		-e nvidia_nvlink_c2c0_pmu_0/rd_bytes_loc,port=0x2/ -e nvidia_cnvlink_pmu_0/wr_bytes_rem,rem_socket=0x8/
}

# --- finite traffic

# send SLOT SECONDS: from the CPU that reads the counters of socket 0
send() { traffic --slot "$1" --per-iter $FULL --cpu 0 --seconds "$2" --report truth; }

# counted NAME SLOTS ARG...: those slots one after the other, while stat counts
counted() {
	counted_name=$1 slots=$2
	shift 2
	steps=
	for slot in $slots; do
		steps="$steps traffic --slot $slot --per-iter $FULL --cpu 0 --seconds 0.1 --report truth.$counted_name;"
	done
	run_stat "$counted_name" "$@" -- sh -c "$steps"
}

# Each family by what it counts; then more events of a PMU than it can count at once, where
# bytes and cycles of metrics are to stay. A program on the CPU that changes turns cannot
# store meanwhile. The emulated cores count cycles and no instructions.
scenario_stat_counts() {
	rc=nvidia_pcie_pmu_0_rc_1 tgt=nvidia_pcie_tgt_pmu_0_rc_1
	hdm=dst_addr_base=0x8000010000,dst_addr_mask=0xffffffff00000,dst_addr_en=1
	# shellcheck disable=SC2046  # lists
	counted families "1 2 3 4 5 6 7 8" $(spec $UCF/mem_bytes_rd/ $UCF/mem_bytes_rd,src_loc_cpu=1/ $UCF/mem_access_rd,src_loc_noncpu=1/ \
		nvidia_ucf_pmu_1/slc_bytes_rd,dst_rem=1/ nvidia_ucf_pmu_1/mem_bytes_rd,dst_loc_cmem=1/ \
		nvidia_cmem_latency_pmu_0/rd_req/ nvidia_cmem_latency_pmu_0/rd_cum_outs/ \
		nvidia_nvclink_pmu_1/out_rd_req/ nvidia_nvclink_pmu_1/out_rd_cum_outs/ \
		$rc/rd_bytes,src_rp_mask=0x4/ $rc/rd_req/ $rc/rd_cum_outs,dst_loc_cmem=1/ $rc/wr_bytes,dst_rem=1/ $rc/wr_req,src_rp_mask=0x4/ \
		$tgt/rd_bytes,dst_rp_mask=0x2/ $tgt/rd_req/ $tgt/wr_bytes,$hdm/ $tgt/wr_req,$hdm/ $tgt/wr_bytes/ \
		nvidia_nvlink_c2c_pmu_0/out_wr_req,gpu_mask=0x2/ nvidia_nvlink_c2c_pmu_0/out_wr_cum_outs/ \
		nvidia_nvlink_c2c_pmu_0/out_wr_req,gpu_mask=0x1/ nvidia_nvdlink_pmu_1/in_rd_req/ nvidia_nvdlink_pmu_1/in_rd_cum_outs/)
	counted group "1 3" -e "{$UCF/mem_bytes_rd,src_loc_cpu=1/,$UCF/mem_bytes_rd,src_loc_noncpu=1/,$UCF/cycles/}"
	list=
	for event in slc_allocate slc_wb slc_refill_rd slc_refill_wr slc_hit_rd slc_access_rd slc_access_wr local_snoop \
		ext_snp_access ext_snp_evict mem_bytes_rd mem_bytes_wr; do
		list="$list -e $UCF/$event/"
	done
	# shellcheck disable=SC2086  # a list
	counted turns "0 0 0 0 0" $list
	run_stat status -d 5 -M t410.ucf.mem_read_bandwidth -- sh -c 'exit 7'
	counted base "0 0 0" -M 't410.ucf.*'
	run_stat ipc -M t410.core.ipc -- sleep 0.2
	run_stat cores -- sleep 0.5
	run_stat cycles -e cpu_cycles -- traffic --slot 1 --per-iter $FULL --seconds 0.2 --cpu 0
}

# perf inside of t410trace, traffic inside of perf: each has half of a PMU's counters
side_by_side() {
	n=0
	# shellcheck disable=SC2046  # lists of words
	while set -- $(batch $n 4) && [ $# -gt 0 ]; do
		# shellcheck disable=SC2046
		run_stat "batch$n" $(spec "$@") -- perf stat -x, -o "$PWD/perf.$n" -a $(spec "$@") -- \
			traffic --slot 0 --per-iter $FULL --cpu 0 --seconds 0.1 --report "truth.$n"
		n=$((n + 1))
	done
	shown
}
scenario_stat_perf() { side_by_side; }
scenario_stat_grace_perf() { side_by_side; }
scenario_stat_grace_counts() {
	# shellcheck disable=SC2046  # a list
	counted families "1 2 3 4 5" $(spec nvidia_scf_pmu_0/socket_0_rd_data/ nvidia_scf_pmu_0/cmem_rd_access/ \
		nvidia_scf_pmu_0/cmem_rd_outstanding/ nvidia_scf_pmu_0/cmem_wr_total_bytes/ nvidia_scf_pmu_0/socket_0_wb_access/ \
		nvidia_pcie_pmu_0/rd_bytes_loc,root_port=0x4/ nvidia_pcie_pmu_0/rd_bytes_loc,root_port=0x3fb/ \
		nvidia_pcie_pmu_0/rd_cum_outs_loc/ nvidia_nvlink_c2c0_pmu_0/wr_bytes_rem,port=0x2/ \
		nvidia_nvlink_c2c0_pmu_0/wr_req_rem,port=0x1/ nvidia_cnvlink_pmu_1/rd_req_loc,rem_socket=0x1/ \
		nvidia_cnvlink_pmu_1/rd_cum_outs_loc/)
}

# --- faults

# The CPU that reads the counters of socket 1 goes and comes back while a program there works
scenario_stat_hotplug() {
	"$T410TRACE" stat --json -o all.json -i 500 -e nvidia_ucf_pmu_1/mem_bytes_rd/ -e nvidia_nvdlink_pmu_1/in_rd_req/ \
		-e nvidia_pcie_pmu_1_rc_0/rd_bytes/ -e nvidia_nvclink_pmu_1/out_rd_req/ 2> all.err &
	tracer=$!
	until_true has_lines all.json 1
	for cpu in 2 3 2; do
		[ $cpu = 3 ] && echo 0 > /sys/devices/system/cpu/cpu2/online
		[ $cpu = 3 ] && cat $PMUS/nvidia_ucf_pmu_1/cpumask > cpumask
		[ -e cpumask ] && [ $cpu = 2 ] && echo 1 > /sys/devices/system/cpu/cpu2/online
		usleep 200000
		traffic --slot 0,2 --per-iter $FULL --cpu $cpu --seconds 0.3 --report truth
		usleep 200000
	done
	kill -INT $tracer
	wait $tracer
	echo $? > all.status
}

# After the end, whatever it was, all counters are free
scenario_stat_death() {
	until_true programs_gone
	count_programs > programs.before
	for signal in INT TERM KILL; do
		"$T410TRACE" stat --json -i 200 --read-budget $BUDGET -o $signal.json 2> $signal.err &
		tracer=$!
		until_true has_lines $signal.json 2
		usleep 100000
		kill -$signal $tracer
		wait $tracer
		echo $? > $signal.status
	done
	mv KILL.json KILL.part
	hold_all_counters
	until_true programs_gone
	count_programs > programs.after
}

# What cannot be asked
scenario_stat_refusals() {
	said metric "$T410TRACE" stat -d 1 -M t410.ucf.mem_read_bandwith
	said event "$T410TRACE" stat -d 1 -e $UCF/mem_bytes_rdx/
	said pmu "$T410TRACE" stat -d 1 -e nvidia_ucf_pmu_7/mem_bytes_rd/
	said filter "$T410TRACE" stat -d 1 -e $UCF/mem_bytes_rd,src_loc_cqu=1/
	said range "$T410TRACE" stat -d 1 -e $UCF/mem_bytes_rd,src_loc_cpu=2/
	said brace "$T410TRACE" stat -d 1 -e "{$UCF/mem_bytes_rd/"
	said bdf "$T410TRACE" stat -d 1 -e nvidia_pcie_pmu_0_rc_1/rd_bytes,src_bdf=0xa100/
	said budget "$T410TRACE" stat -d 1 --read-budget 0
	said socket "$T410TRACE" stat -d 1 --socket 5
	said command "$T410TRACE" stat -d 1 -- /no/such/program
}
