# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The images, for vm to source: from Debian's packages to a folder in the cache with disk.img, vmlinuz, initrd and info.
# The key in the folder's name is a hash of all that makes an image: what is in image/, and the functions that call it.

# shellcheck disable=SC2154 # here, cache, work, architecture are vm's

suite_of() {
        case $1 in
        252) echo bookworm ;;
        257) echo trixie ;;
        262) echo forky ;;
        *) die "no such release: $1 (there are ${all_releases[*]})" ;;
        esac
}

# The mirror this machine's own apt uses; nothing where that is not Debian's archive: mmdebstrap then has its default.
apt_mirror() {
        local distribution codename

        if [ -n "${CORDON_MIRROR-}" ]; then
                echo "$CORDON_MIRROR"
                return
        fi
        distribution=$(sed -n 's/^ID=//p' /etc/os-release)
        codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
        [ "$distribution" = debian ] || return 0
        # shellcheck disable=SC2016
        apt-get indextargets --format '$(RELEASE) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
                awk -v codename="$codename" '
                        $2 == "main" && ($1 == codename || $1 ~ /^(stable|testing|unstable|sid)$/) && !found++ { print $3 }'
}

packages_for() {
        awk -v release="$1" -v arch="$architecture" '
                /^#/ || !NF { next }
                { wanted = NF == 1; for (i = 2; i <= NF; i++) if ($i == release) wanted = 1 }
                wanted { sub(/@ARCH@/, arch, $1); printf "%s%s", separator, $1; separator = "," }' "$here/image/packages"
}

# image_bootstrap RELEASE SUITE TARBALL
image_bootstrap() {
        local release=$1 suite=$2 tarball=$3 mirror proxy options=()

        mirror=$(apt_mirror)
        proxy=$(apt-config dump 2>/dev/null | sed -n 's/^\(Acquire::https\{0,1\}::Proxy "..*";\)$/\1/p')
        [ -z "$proxy" ] || options+=(--aptopt="$proxy")
        # a testing release's file is often past its date on a mirror
        options+=(--aptopt='Acquire::Check-Valid-Until "false"' --aptopt='Acquire::Retries "3"')
        options+=(--dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*'
                --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/info/*')
        # no initrd of Debian's: image/setup makes one
        export INITRD=No
        if [ "$(id -u)" = 0 ]; then
                # In namespaces that die with it: mmdebstrap alone heeds signals between its steps only. No mount outlives it,
                # and what it unpacks goes with our temporary files.
                TMPDIR=$work run_child KILL unshare --mount --pid --fork --kill-child --mount-proc -- mmdebstrap --mode=root --variant=essential --format=tar \
                        --include="$(packages_for "$release")" "${options[@]}" "$suite" "$tarball" ${mirror:+"$mirror"}
        else
                run_child TERM mmdebstrap --mode=unshare --variant=essential --format=tar \
                        --include="$(packages_for "$release")" "${options[@]}" "$suite" "$tarball" ${mirror:+"$mirror"}
        fi
}

image_key() {
        {
                echo "$1 $architecture"
                declare -f image_bootstrap suite_of packages_for
                cd "$here/image" && find . -type f ! -name '*~' -print0 | sort -z | xargs -0 sha256sum
        } | sha256sum | cut -c 1-16
}

# The folders, settled once: this tree may be edited while machines run.
set_images() {
        local release

        for release in "${all_releases[@]}"; do
                image_of["$release"]=$cache/$release-$architecture-$(image_key "$release")
        done
}

# Builds one image unless it is there. Two at once build one: the second waits for the first.
image_build() {
        local release=$1 suite image place log started=$SECONDS old

        suite=$(suite_of "$release")
        image=${image_of[$release]}
        [ ! -e "$image/disk.img" ] || return 0
        exec 9>"$cache/$release-$architecture.lock"
        run_child KILL flock 9
        [ ! -e "$image/disk.img" ] || return 0

        need mmdebstrap mmdebstrap
        need mke2fs e2fsprogs
        [ "$(id -u)" = 0 ] || need newuidmap uidmap
        place=$work/image-$release
        log=$cache/log/$release-build.log
        mkdir -p "$place/root" "$place/image"
        say "building the image $release from Debian $suite"
        if ! {
                image_bootstrap "$release" "$suite" "$place/root.tar" &&
                        as_root tar -x -f "$place/root.tar" -C "$place/root" --exclude='./dev/*' &&
                        as_root env PATH="$PATH:/usr/sbin:/sbin" "$here/image/setup" "$place/root" "$place/image"
        } >"$log" 2>&1; then
                tail -n 15 "$log" >&2
                say "the image $release could not be built; the whole log is in $log"
                return 1
        fi
        remove "$place/root" "$place/root.tar"

        : >"$place/image/lock"
        # whoever runs from an older image keeps it until the next build
        for old in "$cache/$release-$architecture-"*/; do
                [ -d "$old" ] || continue
                (flock -n 7 && rm -rf "$old") 7<"$old/lock" || true
        done
        mv -T "$place/image" "$image"
        say "built the image $release in $((SECONDS - started)) s: $(tr '\n' ' ' <"$image/info")"
        [[ $(image_info "$release" systemd) = "$release"* ]] ||
                say "note: Debian $suite now has systemd $(image_info "$release" systemd), not $release"
}

image_info() {
        sed -n "s/^$2=//p" "${image_of[$1]}/info"
}
