#!/bin/sh
# The first process of a guest: the host's / read-only by 9p, fresh memory file systems where programs
# write, the folder shared with the harness at /mnt; then the steps in a chroot of it.
export PATH=/bin:/sbin
/bin/busybox --install -s /bin
mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
mkdir -p /dev/shm /dev/pts
mount -t tmpfs shm /dev/shm
mount -t devpts pts /dev/pts
ln -sf /proc/self/fd /dev/fd
mount -t cgroup2 cgroup2 /sys/fs/cgroup
hostname guest
ip link set lo up
# Open MPI and Slurm want an address that is not 127/8.
modprobe dummy && ip addr add 10.0.0.1/24 dev dummy0 && ip link set dummy0 up

read -r words </proc/cmdline
for word in $words; do
  case $word in
    tree=*) tree=${word#tree=} ;;
    modules=*) for module in $(echo "${word#modules=}" | tr , ' '); do modprobe "$module" || echo "modprobe $module failed"; done ;;
    numatlas_shell) shell=yes ;;
  esac
done

modprobe 9p; modprobe 9pnet_virtio; modprobe virtio_pci
options=trans=virtio,version=9p2000.L,msize=524288
mount -t 9p -o "ro,$options,cache=loose" host /host || poweroff -f
mount -t 9p -o "$options" share /host/mnt || poweroff -f
# Where the guest has a file system of its own instead of the host's: the repository, at its place.
if [ -n "$tree" ]; then
  mount -t tmpfs tmpfs /host/tmp && mkdir -p "/host$tree"
  mount -t 9p -o "ro,$options,cache=loose" tree "/host$tree" || poweroff -f
fi
for folder in proc sys dev; do mount --rbind /$folder /host/$folder; done
# Not over /root or /var/tmp: the repository may stand there.
mount -t tmpfs tmpfs /host/run && mkdir /host/run/home
printf '127.0.0.1 localhost guest\n' >/hosts && mount --bind /hosts /host/etc/hosts

inside() { chroot /host /usr/bin/env -i HOME=/run/home TERM=linux TMPDIR=/run /bin/bash "$@"; }
if [ -n "$shell" ]; then
  # A terminal of its own: job control and Ctrl-C work.
  setsid cttyhack chroot /host /usr/bin/env -i HOME=/run/home TERM=linux TMPDIR=/run /bin/bash --rcfile /mnt/environment -i
else
  inside /mnt/steps.sh
fi
sync
# isa-debug-exit: the emulator ends at once.
printf '\1' | dd of=/dev/port bs=1 seek=$((0xf4)) 2>/dev/null
poweroff -f
