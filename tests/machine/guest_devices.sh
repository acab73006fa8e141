#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Part of guest.sh: scenarios of the PCI topology and of counters of devices (devices.conf).

PCI=/sys/bus/pci
# Where the machine's real disks are is nowhere to be read: the user says it
MAP=/tmp/pci-map
MAP_LINES='0000:00:08.0 socket=0 rc=2 rp=1
0000:00:09.0 socket=0 rc=5 rp=1'
NIC=0002:c1:00.0
HELD=nvidia_pcie_pmu_0_rc_3

write_map() { echo "$MAP_LINES" > $MAP; }

# virtual_functions N: Linux switches them on for functions with a driver only
virtual_functions() {
	if [ ! -e $PCI/drivers/pci-pf-stub ]; then
		insmod /modules/pci-pf-stub.ko
		echo pci-pf-stub > $PCI/devices/$NIC/driver_override
		echo $NIC > $PCI/drivers/pci-pf-stub/bind
	fi
	echo "$1" > $PCI/devices/$NIC/sriov_numvfs
}

# devices BDF...: as options. Readings and turns take twenty times as long as on hardware, and
# may (see run_stat); those of latencies of memory, which share their budget, stay away.
devices() {
	printf -- '--read-budget 100 --probe-interval 10000 '
	for one; do printf -- '-D %s ' "$one"; done
}

FOUR_PORTS="0002:81:00.0 0002:a1:00.0 0002:c1:00.0 0002:e1:00.0"
FOUR_SWITCHED="0004:03:00.0 0004:04:00.0 0004:05:00.0 0004:06:00.0"

# --- topology

# capture_sysfs FOLDER: what the documentation tells users to send
capture_sysfs() {
	mkdir "$1"
	(cd /sys && find devices/pci* bus/pci/devices class/block class/net \( -type l -o -name config -o -name class \
		-o -name vendor -o -name device -o -name numa_node -o -name resource -o -name irq \) -print0 |
		xargs -0 /usr/bin/cp -a --parents -t "$OLDPWD/$1")
}

scenario_topology() {
	write_map
	virtual_functions 3
	said table "$T410TRACE" topology --ports
	said json "$T410TRACE" topology --json
	said mapped "$T410TRACE" topology --json --pci-map $MAP
	said rights /usr/bin/setpriv --bounding-set -sys_admin "$T410TRACE" topology
	said rights-json /usr/bin/setpriv --bounding-set -sys_admin "$T410TRACE" topology --json
	capture_sysfs copy 2> capture.err
	said copy "$T410TRACE" topology --json --sysfs copy
	rm -rf copy
	lspci -D -xxxx > dump
	said dump "$T410TRACE" topology --json --lspci dump
	echo "nothing of the kind" > junk
	said junk "$T410TRACE" topology --lspci junk
	said nowhere "$T410TRACE" topology --sysfs /no/such/folder
	list-pci > list
	virtual_functions 0
}

# --- what devices move

# Each of the four is alone below its port, so all of them count all of the time
scenario_devices_alone() {
	# shellcheck disable=SC2046,SC2086  # lists
	trace all -a -i 500 $(devices $FOUR_PORTS)
	load gpu1 --slot 0,1 --rate 3000001 --cpu 2 --duty 20/30 --seconds 1.5 &
	load nvme --slot 2,3 --per-iter 70016 --cpu 3 --seconds 1 &
	load nic --slot 4,5 --rate 500009 --cpu 2 --seconds 1 &
	load gpu4 --slot 6,7 --per-iter 4099 --cpu 3 --seconds 1 &
	load tasks --slot 16 --rate 1000000 --cpu 1 --seconds 1 &
	until_true has_lines truth 9
	trace_end TERM
	# There are not counters enough for the requests of all four
	mv truth truth.four
	# shellcheck disable=SC2046  # a list
	trace one -a -i 500 $(devices 0002:a1:00.0)
	load nvme --slot 2,3 --per-iter 70016 --cpu 3 --seconds 1
	trace_end TERM
	mv truth truth.one
	# Latencies of two take turns beside the bytes of both
	# shellcheck disable=SC2046  # a list
	trace two -a -i 1000 $(devices 0002:81:00.0 0002:e1:00.0)
	load two --slot 0,1 --rate 3000001 --cpu 2 --seconds 4
	trace_end TERM
}

# All that there are, with the budget that nobody asked for: here it does not do for reading them often
scenario_devices_all() {
	trace all -a -i 1000 -D all
	load nvme --slot 2,3 --rate 2000003 --cpu 2 --seconds 6
	trace_end TERM
	# too short for all turns
	said short "$T410TRACE" -a -D all -d 1
}

# Four of those behind the switch, whose port is one: they take turns. Their traffic never stops. The
# run has whole intervals only, for a device may have no turn in a short one; so it ends by itself, long
# after the loads.
scenario_devices_rotation() {
	cat > loads <<-'END'
	traffic --name tasks --report truth --slot 16 --rate 1000000 --cpu 1 --duty 5/45 --seconds 6 &
	traffic --name others --report truth --slot 17,18 --rate 900001 --cpu 3 --duty 5/20 --seconds 6 &
	wait
	END
	# shellcheck disable=SC2046,SC2086  # lists
	trace all -a -i 2000 -d 20 $(devices $FOUR_SWITCHED)
	# Other units of the same root complex and elsewhere, counted by somebody else
	count around nvidia_pcie_tgt_pmu_0_rc_3/rd_bytes/ nvidia_cmem_latency_pmu_0/rd_req/ nvidia_nvdlink_pmu_0/in_rd_cum_outs/ \
		nvidia_ucf_pmu_1/mem_bytes_wr,src_loc_cpu=1/ -- sh loads > others
	trace_ended
}

# --- whose input and output it was

own_groups() {
	echo "+io +memory" > $CGROUPS/cgroup.subtree_control
	mkdir -p $CGROUPS/io
	echo "+io +memory" > $CGROUPS/io/cgroup.subtree_control
}

# disk_loads: two tenants with requests of different sizes, in bursts, on one disk
disk_loads() {
	diskload --name reader --file /dev/vda --read --size 131072 --burst 8 --pause 10-90 --seed 3 --cpu 2 --seconds "$1" \
		--cgroup io/reader --report truth &
	diskload --name writer --file /dev/vda --write --size 16384 --burst 24 --pause 20-120 --seed 7 --cpu 3 --seconds "$1" \
		--offset 67108864 --cgroup io/writer --report truth &
	diskload --name mixed --file /dev/vda --read --write --size 4096 --burst 30 --pause 30-150 --seed 9 --cpu 1 --seconds "$1" \
		--offset 134217728 --cgroup io/mixed --report truth
	until_true has_lines truth "$2"
}

# requests_end: the time of a request is known to a tick of the kernel, and no report has it before that
requests_end() { usleep 100000; }

scenario_devices_io() {
	write_map
	own_groups
	diskload --totals > totals.before
	# shellcheck disable=SC2046  # a list
	trace all -a -i 500 $(devices vda) --pci-map $MAP
	disk_loads 2.5 3
	requests_end
	trace_end TERM
	diskload --totals > totals.after
	mv truth truth.live

	diskload --totals > totals2.before
	# shellcheck disable=SC2046  # a list
	recording $(devices vda) --pci-map $MAP
	disk_loads 2 3
	requests_end
	recording_end
	diskload --totals > totals2.after
	said process "$T410TRACE" report run.rec -a --json --summary
	said again "$T410TRACE" report run.rec -a --json --summary
	said cgroup "$T410TRACE" report run.rec -a --json --summary --by cgroup
	said table "$T410TRACE" report --top 3 run.rec -a --summary
	mv process.out process.json
	mv again.out again.json
	mv cgroup.out cgroup.json
	rm -f run.rec
	mv truth truth.record
}

# What is only written to memory goes to the disk later, from a thread of the kernel: whose it
# was, the page's cgroup says.
scenario_devices_writeback() {
	write_map
	own_groups
	mke2fs /dev/vdb > /dev/null 2>&1
	mkdir -p /mnt
	# nobody has the disk open, so nobody writes to it on the quiet; the same afterwards
	diskload --totals > totals.before
	# shellcheck disable=SC2046  # a list
	trace cgroup -a -i 500 --by cgroup $(devices vdb) --pci-map $MAP
	# nothing is read in advance later on
	mount -t ext4 -o no_prefetch_block_bitmaps,noinit_itable /dev/vdb /mnt
	usleep 200000
	diskload --name buffered --file /mnt/one --write --buffered --size 1048576 --requests 24 --span 33554432 --cpu 2 \
		--cgroup io/buffered --report truth
	sync
	usleep 200000
	diskload --name other --file /mnt/two --write --buffered --size 262144 --requests 40 --span 33554432 --cpu 3 \
		--cgroup io/other --report truth
	sync
	usleep 200000
	umount /mnt
	requests_end
	trace_end TERM
	diskload --totals > totals.after
}

# --- links of GPUs

# The bits of two GPUs of each socket. All of segment 0 is QEMU's, which moves nothing here.
LINK_LINES='0000:* socket=0 rc=2 rp=1
0006:01:00.0 socket=0 rc=5 rp=0 gpu=0
0005:01:00.0 socket=0 rc=4 rp=0 gpu=1
000b:01:00.0 socket=1 rc=2 rp=0 gpu=0
000d:41:00.0 socket=1 rc=4 rp=1 gpu=1'
LINKED="000b:01:00.0 000d:41:00.0 0006:01:00.0"

# links NAME: they are followed, beside four devices that take turns with all ports of their root
# complex, at full rate
links() {
	echo "$LINK_LINES" > $MAP
	# shellcheck disable=SC2046,SC2086  # lists
	trace "$1" -a -i 2000 --pci-map $MAP $(devices $LINKED $FOUR_SWITCHED)
}

# links_end NAME: what was moved is in whole intervals: a device may have no turn in a short one
links_end() {
	until_true has_lines "$1.json" $(($(wc -l < "$1.json") + 1))
	trace_end TERM
	mv truth "truth.$1"
}

scenario_devices_links() {
	links all
	load hits0 --slot 20,21 --per-iter 70016 --cpu 2 --seconds 1
	load hits30 --slot 22,23 --rate 3000001 --cpu 2 --seconds 1
	load hits90 --slot 24,25 --rate 3000001 --cpu 3 --seconds 1
	load cpus --slot 16,28 --rate 1000000 --cpu 1 --seconds 0.5
	links_end all
}

# Two GPUs of a socket at once, and one beside the switch
scenario_devices_links_two() {
	links two
	load one --slot 22 --rate 3000001 --cpu 2 --seconds 2 &
	load other --slot 26 --rate 1000003 --cpu 3 --seconds 2 &
	load beside --slot 27 --rate 9000001 --cpu 1 --seconds 2 &
	until_true has_lines truth 3
	links_end two
	# Which of the two it is nobody says; then there is a device of which nobody knows the place
	echo "$LINK_LINES" | sed 's/ gpu=.*//' > $MAP
	# shellcheck disable=SC2046,SC2086  # lists
	trace untold -a -d 1 --pci-map $MAP $(devices $LINKED)
	trace_ended
	echo "$LINK_LINES" | sed '/^0000/d' > $MAP
	# shellcheck disable=SC2046,SC2086  # lists
	trace unplaced -a -d 1 --pci-map $MAP $(devices $LINKED)
	trace_ended
}

# --- others, and changes

# perf has the filter of a root complex for itself, for another device
scenario_devices_perf() {
	perf_counts -e $HELD/wr_bytes,src_bdf=0x701,src_bdf_en=1/D
	# shellcheck disable=SC2046  # a list
	trace held -a -v -i 500 $(devices 0004:07:00.0 0002:a1:00.0)
	# on the CPU where the kernel tries in vain to start our events: nothing counts meanwhile
	load both --slot 8,2 --rate 4000003 --cpu 0 --duty 1/4 --seconds 1.2
	trace_end TERM
	said table "$T410TRACE" -a -d 0.3 -D 0004:07:00.0
	perf_release
	mv truth truth.held
	# shellcheck disable=SC2046  # a list
	trace free -a -i 1000 $(devices 0004:07:00.0 0002:a1:00.0)
	load both --slot 8,2 --rate 4000003 --cpu 2 --duty 1/4 --seconds 1
	trace_end TERM
	mv truth truth.free
}

# Virtual functions come and go, a device is removed and found again, and the CPU that reads
# the counters of a device goes and comes back.
scenario_devices_hotplug() {
	virtual_functions 2
	# shellcheck disable=SC2046  # a list
	trace all -a -v -i 1000 $(devices 0002:c1:00.1 0002:c1:00.2 0004:07:00.0 000a:81:00.0)
	load before --slot 8,10,11,12 --rate 4000003 --cpu 3 --duty 1/4 --seconds 1
	virtual_functions 0
	echo 1 > $PCI/devices/0004:07:00.0/remove
	echo 0 > /sys/devices/system/cpu/cpu2/online
	cat $PMUS/nvidia_pcie_pmu_1_rc_1/cpumask > cpumask
	load during --slot 12 --rate 4000003 --cpu 3 --duty 1/4 --seconds 1
	echo 1 > $PCI/rescan
	virtual_functions 2
	echo 1 > /sys/devices/system/cpu/cpu2/online
	usleep 1500000
	load after --slot 8,10,11,12 --rate 4000003 --cpu 3 --duty 1/4 --seconds 1
	until_true has_lines truth 9
	trace_end TERM
	list-pci > list
	virtual_functions 0
}

# What cannot be counted is said, with a status
scenario_devices_refusals() {
	said nobody "$T410TRACE" -a -d 0.3 -D 0002:81:1f.0
	said junk "$T410TRACE" -a -d 0.3 -D 0002:81
	said root-port "$T410TRACE" -a -d 0.3 -D 0002:80:00.0
	said bridge "$T410TRACE" -a -d 0.3 -D 0004:02:01.0
	said name "$T410TRACE" -a -d 0.3 -D vdz
	said ram "$T410TRACE" -a -d 0.3 -D lo
	said unplaced "$T410TRACE" -a -d 0.3 -D vda
	said no-counters "$T410TRACE" -a -d 0.3 --no-counters -D 0002:81:00.0 --json
	mv no-counters.out no-counters.json
	said no-map "$T410TRACE" -a -d 0.3 -D vda --pci-map /no/such/map
	printf '# disks\n0000:00:08.0 socket=0 rc=2 port=1\n' > map-key
	said map-key "$T410TRACE" -a -d 0.3 -D vda --pci-map map-key
	printf '0000:00:08.0 socket=0 rc=9999999999 rp=1\n' > map-number
	said map-number "$T410TRACE" -a -d 0.3 -D vda --pci-map map-number
	printf '0000:00:08.0 socket=0 rc=7 rp=1\n' > map-rc
	said map-rc "$T410TRACE" -a -d 0.3 -D vda --pci-map map-rc
	said twice "$T410TRACE" -a -d 0.3 -D 0002:81:00.0 -D 2:81:0.0 --json
	mv twice.out twice.json
}
