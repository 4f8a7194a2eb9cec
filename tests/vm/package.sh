# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The package that machines install, for vm to source: a pass of its own, the last in each machine, because the build that the
# machine came with goes before it.

# shellcheck disable=SC2154 # stage, source_root, work are vm's

# Leaves it in the payload, and two things of this machine that look at it, where its test was chosen; else there is no such
# pass. A tree from elsewhere, or one without its history, has no package of ours. Where it could not be made its test says so.
package_stage() {
        local place

        if [[ -n $stage || ! -e $source_root/.git ]] || ! grep -q ' package$' "$work/tests"; then
                managers=${managers/package/}
        fi
        [[ $managers = *package* ]] || return 0
        need mandoc mandoc
        [ -e /usr/share/bash-completion/bash_completion ] ||
                die "bash-completion is missing: install the package bash-completion, or all of them with: ./dev deps"
        mkdir -p "$work/payload/vm/package"
        cp -L "$(command -v mandoc)" /usr/share/bash-completion/bash_completion "$work/payload/vm/package"
        say "making the package"
        if place=$("$source_root/tests/package/make-deb" "$(build_directory)"); then
                cp -L "$place/cordon.deb" "$work/payload/vm/package"
        fi
}
