#!/bin/bash
# Run by build.sh inside of the box's new root: its user, its services, and this checkout's own packages.
set -euo pipefail
checkout=/home/vagrant/beowulf-labs

useradd --shell /bin/bash --password '*' --no-create-home vagrant
cp -r /etc/skel/. /home/vagrant
install -d -m 700 /home/vagrant/.ssh
install -m 600 /box-key.pub /home/vagrant/.ssh/authorized_keys
rm /box-key.pub
chown -R vagrant:vagrant /home/vagrant
chmod 440 /etc/sudoers.d/vagrant

# `make lab`'s own way, so that node00 finds all of it done.
mkdir -p $checkout/build
chown -R vagrant:vagrant $checkout
# Where Python keeps nothing of what it compiles, all of it is compiled now: an emulated VM takes minutes.
setpriv --reuid vagrant --regid vagrant --init-groups env -u PIP_FIND_LINKS HOME=/home/vagrant USER=vagrant \
    PYTHONDONTWRITEBYTECODE=1 $checkout/cluster_setup/bootstrap.sh setup
# The packed programs too, under the name of what is in them.
(cd $checkout && setpriv --reuid vagrant --regid vagrant --init-groups env HOME=/home/vagrant \
    .venv/bin/python -c 'from pathlib import Path; from beowulf.cluster.machines import setup; setup.pack(Path("build"))')
# The checkout itself comes from the host.
find $checkout -mindepth 1 -maxdepth 1 ! -name .venv ! -name .mpi ! -name build -exec rm -rf {} +
rm -rf /home/vagrant/.cache

systemctl enable systemd-networkd.service ssh.service
systemctl disable systemd-networkd-wait-online.service
systemctl mask apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap.service \
    fstrim.timer systemd-resolved.service nftables.service systemd-logind.service getty@tty1.service \
    serial-getty@ttyS0.service systemd-tmpfiles-clean.timer
# What nothing in these VMs asks for, and costs an emulated processor a second or more each at every start.
systemctl mask systemd-binfmt.service proc-sys-fs-binfmt_misc.automount dev-hugepages.mount dev-mqueue.mount \
    sys-kernel-debug.mount sys-kernel-tracing.mount sys-kernel-config.mount sys-fs-fuse-connections.mount \
    modprobe@configfs.service modprobe@dm_mod.service modprobe@drm.service modprobe@efi_pstore.service \
    modprobe@fuse.service modprobe@loop.service systemd-pstore.service systemd-random-seed.service \
    systemd-update-utmp.service systemd-update-utmp-runlevel.service systemd-journal-flush.service
rm -f /etc/ssh/ssh_host_*
: >/etc/machine-id
: >/etc/resolv.conf
echo debian >/etc/hostname
printf '127.0.0.1\tlocalhost\n127.0.1.1\tdebian\n' >/etc/hosts
