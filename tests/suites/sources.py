"""Fetches the suites' sources at fixed versions, once, into a folder of the user's cache.

Sources are PyPI, the Go module proxy, Maven Central and Debian's source archives, with their ordinary clients. A suite's
folder is complete or absent: it is made under another name and then renamed.
"""

import os
import shutil
import subprocess
import sys
import tarfile

CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "selkie-suites")
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
APT = "/etc/apt"
# Packages that the suites' own builds need: Debian package, and a file that exists if it is installed.
PACKAGES = {
    "libdbi-perl": "/usr/lib/x86_64-linux-gnu/perl5/5.36/DBI.pm",
    "libmariadb-dev": "/usr/bin/mariadb_config",
    "libdevel-checklib-perl": "/usr/share/perl5/Devel/CheckLib.pm",
    "libtest-deep-perl": "/usr/share/perl5/Test/Deep.pm",
    "zlib1g-dev": "/usr/include/zlib.h",
    "libssl-dev": "/usr/include/openssl/ssl.h",
    "pkg-config": "/usr/bin/pkg-config",
    "python3-dev": "/usr/include/python3.11/Python.h",
    "dpkg-dev": "/usr/bin/dpkg-source",
    "xz-utils": "/usr/bin/xz",
    "make": "/usr/bin/make",
}


def run(*command, **options):
    """Runs a command without output; shows its output if it fails."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                          text=True, **options)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout[-4000:]}")
    return done.stdout


def packages():
    """Installs missing Debian packages."""
    missing = [name for name, file in PACKAGES.items() if not os.path.exists(file)]
    if missing:
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        run("apt-get", "update", "-qq")
        run("apt-get", "install", "-y", "-qq", "--no-install-recommends", *missing, env=environment)


def folder(name, make):
    """Returns the folder of a suite; `make(path)` fills it the first time."""
    path = os.path.join(CACHE, name)
    if not os.path.isdir(path):
        shutil.rmtree(path + ".new", ignore_errors=True)
        os.makedirs(path + ".new")
        make(path + ".new")
        os.rename(path + ".new", path)
    return path


def unpack(archive, path):
    """Unpacks an archive whose files are in one top folder."""
    with tarfile.open(archive) as tar:
        top = os.path.commonprefix([member.name for member in tar if member.name != "."]).split("/")[0]
        tar.extractall(path, filter="data")
    for name in os.listdir(os.path.join(path, top)):
        os.rename(os.path.join(path, top, name), os.path.join(path, name))
    os.rmdir(os.path.join(path, top))


def pypi(name, version):
    """Returns an unpacked source archive of PyPI."""
    def make(path):
        run(sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:",
            "-d", path, f"{name}=={version}")
        (archive,) = os.listdir(path)
        archive = os.path.join(path, archive)
        unpack(archive, path)
        os.remove(archive)
    return folder(f"{name}-{version}", make)


def mirror():
    """Returns the Debian mirror of this machine: the first with the system's own release."""
    with open("/etc/os-release") as file:
        release = dict(line.strip().split("=", 1) for line in file if "=" in line)["VERSION_CODENAME"]
    parts = os.path.join(APT, "sources.list.d")
    files = [os.path.join(parts, name) for name in sorted(os.listdir(parts))] + [os.path.join(APT, "sources.list")]
    for name in filter(os.path.isfile, files):
        with open(name) as file:
            text = file.read()
        for stanza in text.split("\n\n"):
            fields = dict(line.split(":", 1) for line in stanza.splitlines() if ":" in line and line[0] != "#")
            if release in fields.get("Suites", "").split() and "main" in fields.get("Components", "").split():
                return fields["URIs"].split()[0]
        for line in text.splitlines():
            words = [word for word in line.split() if not word.startswith(("[", "signed-by", "]"))]
            if words[:1] == ["deb"] and words[2:3] == [release]:
                return words[1]
    sys.exit(f"no Debian archive of {release} is set up")


def debian(suite, package, version):
    """Returns the upstream sources of a Debian package, without Debian's changes."""
    def make(path):
        lists = os.path.join(path, "lists")
        os.makedirs(os.path.join(lists, "partial"))
        source = os.path.join(path, "sources.list")
        with open(source, "w") as file:
            file.write(f"deb-src [signed-by={KEYRING}] {mirror()} {suite} main\n")
        options = ["-o", f"Dir::Etc::sourcelist={source}", "-o", "Dir::Etc::sourceparts=-",
                   "-o", f"Dir::State::lists={lists}", "-o", "APT::Sandbox::User=root"]
        run("apt-get", *options, "update", "-qq", cwd=path)
        run("apt-get", *options, "source", "-qq", "--download-only", "--tar-only", f"{package}={version}", cwd=path)
        (archive,) = [name for name in os.listdir(path) if ".orig.tar." in name]
        shutil.rmtree(lists)
        os.remove(source)
        unpack(os.path.join(path, archive), path)
        os.remove(os.path.join(path, archive))
    return folder(f"{package}-{version.split('-')[0]}", make)


def go(module, version):
    """Returns a module of the Go proxy with its tests, in a writable folder."""
    def make(path):
        listed = run("go", "mod", "download", "-json", f"{module}@{version}", cwd=path)
        directory = [line.split('"')[3] for line in listed.splitlines() if '"Dir"' in line][0]
        shutil.copytree(directory, path, dirs_exist_ok=True)
        run("chmod", "-R", "u+w", path)
    return folder(f"{module.replace('/', '-')}-{version}", make)


def python(name, *requirements):
    """Returns the interpreter of an environment with these packages."""
    def make(path):
        # An environment contains the name of its folder, so it is made in its final place.
        run(sys.executable, "-m", "venv", path.removesuffix(".new"))
        run(os.path.join(path.removesuffix(".new"), "bin/pip"), "install", "-q", *requirements)
    path = os.path.join(CACHE, name)
    interpreter = os.path.join(path, "bin/python")
    done = os.path.join(path, "complete")
    if not os.path.exists(done):
        shutil.rmtree(path, ignore_errors=True)
        make(path)
        open(done, "w").close()
    return interpreter
