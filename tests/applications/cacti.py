"""Cacti: its installer with all templates, the pages of its console, devices and users made with forms, poller and tools."""

import contextlib
import gzip
import os

import web

PACKAGES = ("cacti", "php-cli", "php-mysql", "php-snmp", "php-gmp", "php-ldap", "php-gd", "php-xml", "php-mbstring",
            "php-intl", "rrdtool")
SOURCE = "/usr/share/cacti"
DATABASE = "cacti"
PAGES = (
    "index.php", "host.php", "host.php?action=edit&id=1", "graphs.php", "data_sources.php", "tree.php",
    "graphs_new.php?host_id=1", "aggregate_graphs.php", "data_input.php", "data_queries.php",
    "data_queries.php?action=edit&id=1", "graph_templates.php", "graph_templates.php?action=template_edit&id=1",
    "host_templates.php", "data_templates.php", "aggregate_templates.php", "color_templates.php",
    "automation_networks.php", "automation_devices.php", "automation_templates.php", "automation_graph_rules.php",
    "automation_tree_rules.php", "automation_snmp.php", "data_source_profiles.php", "cdef.php", "vdef.php", "color.php",
    "gprint_presets.php", "user_admin.php", "user_admin.php?action=user_edit&id=1", "user_group_admin.php",
    "user_domains.php", "settings.php", "settings.php?tab=poller", "pollers.php", "sites.php", "managers.php",
    "utilities.php", "utilities.php?action=view_poller_cache", "utilities.php?action=view_user_log", "rrdcleaner.php",
    "links.php", "reports_admin.php", "graph_view.php?action=tree", "graph_view.php?action=list",
    "graph_view.php?action=preview", "data_debug.php", "about.php")
TOOLS = (("add_device.php", "--description=second", "--ip=127.0.0.2", "--template=0", "--avail=none"),
         ("analyze_database.php",), ("rebuild_poller_cache.php", "--host-id=1"),
         ("add_graphs.php", "--list-graph-templates"), ("repair_database.php",))
DEVICE = {"action": "save", "save_component_host": "1", "reindex_method": "1", "id": "0", "host_template_id": "1",
          "description": "new device", "hostname": "127.0.0.1", "site_id": "1", "poller_id": "1", "device_threads": "1",
          "availability_method": "0", "ping_method": "1", "ping_port": "23", "ping_timeout": "400", "ping_retries": "1",
          "snmp_version": "0", "snmp_port": "161", "snmp_timeout": "500", "max_oids": "10", "snmp_community": "public"}
USER = {"action": "save", "save_component_user": "1", "id": "0", "username": "bob", "full_name": "Bob",
        "email_address": "b@example.org", "password": "Secret123!", "password_confirm": "Secret123!", "enabled": "on",
        "login_opts": "1", "realm": "0", "_policy_graphs": "1", "_policy_trees": "1", "_policy_hosts": "1",
        "_policy_graph_templates": "1"}


def drive(place):
    """Uses the application at `place` (run.py) and returns the browser that used it."""
    with running(place) as browser:
        use(browser)
    for run in range(2):
        poll(browser, place, f"poller {run}")
    for tool, *arguments in TOOLS:
        code, told = web.php(f"cli/{tool}", *arguments, folder=site_of(place))
        browser.note(tool, code == 0 and not web.FAULT.search(told), told)
    return browser


@contextlib.contextmanager
def running(place):
    """Sets the application up at `place` and returns the browser of its administrator."""
    place.sql(f"CREATE DATABASE {DATABASE} CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci")
    place.client(schema(), DATABASE)
    # The network in which its discovery would look for devices.
    place.sql(f"DELETE FROM {DATABASE}.automation_networks")
    # The installer wants named time zones and counts their names.
    place.sql("INSERT IGNORE INTO mysql.time_zone_name VALUES ('UTC', 1)")
    site = install_files(place)
    browser = web.Browser("")
    code, told = web.php("cli/install_cacti.php", "--accept-eula", "--install", "-d", folder=site)
    browser.note("installer", code == 0 and not web.FAULT.search(told), told)
    place.sql(f"UPDATE {DATABASE}.user_auth SET password = MD5('admin'), must_change_password = '', password_change = ''"
              " WHERE username = 'admin'")
    with web.served(site, place.log) as browser.base:
        browser.get("/index.php", "login")
        login = {**browser.form("login"), "action": "login", "login_username": "admin", "login_password": "admin",
                 "realm": "local"}
        browser.post("/index.php", login, "[Ll]ogout|Console", "login")
        yield browser


def site_of(place):
    return os.path.join(place.folder, "cacti", "site")


def poll(browser, place, what):
    code, told = web.php("poller.php", "--force", folder=site_of(place))
    browser.note(what, not web.FAULT.search(told), told)


def schema():
    folder = "/usr/share/doc/cacti"
    name = next(name for name in sorted(os.listdir(folder)) if name.startswith("cacti.sql"))
    path = os.path.join(folder, name)
    with (gzip.open if name.endswith(".gz") else open)(path, "rt", encoding="utf8") as file:
        return file.read()


def install_files(place):
    """Returns a copy of the application with a configuration of its own, and the folder of its pages."""
    top = os.path.join(place.folder, "cacti")
    place.copy(SOURCE, top)
    site = site_of(place)
    for name in ("rra", "log", "cache"):
        os.makedirs(os.path.join(place.folder, name), exist_ok=True)
    if not os.path.exists(os.path.join(site, "cli")):
        os.symlink(os.path.join(top, "cli"), os.path.join(site, "cli"))
    settings = {"database_type": "mysql", "database_default": DATABASE, "database_hostname": "127.0.0.1",
                "database_username": "root", "database_password": "", "database_port": str(place.port),
                "database_retries": 2, "database_ssl": False, "database_persist": False, "poller_id": 1, "url_path": "/",
                "cacti_session_name": "Cacti", "cacti_db_session": True, "disable_log_rotation": False}
    lines = [f"${name} = {php_literal(value)};" for name, value in settings.items()]
    lines += [f"$config['{name}'] = '{path}';" for name, path in (
        ("rra_path", os.path.join(place.folder, "rra")), ("resource_path", os.path.join(top, "resource")))]
    for name in ("resource", "scripts", "log"):
        if not os.path.exists(os.path.join(site, name)) and os.path.isdir(os.path.join(top, name)):
            os.symlink(os.path.join(top, name), os.path.join(site, name))
    path = os.path.join(site, "include", "config.php")
    if os.path.lexists(path):
        os.remove(path)
    with open(path, "w") as file:
        file.write("<?php\n" + "\n".join(lines) + "\n$proxy_headers = null;\n")
    return site


def php_literal(value):
    return f"'{value}'" if isinstance(value, str) else str(value).lower()


def use(browser):
    for page in PAGES:
        browser.get(f"/{page}")
    browser.get("/index.php", "csrfMagicToken")
    token = {"__csrf_magic": browser.find(r"""csrfMagicToken\s*=\s*["']([^"']*)["']""")}
    browser.get("/host.php?action=edit&create=true", "save_component_host", "new device")
    form = browser.form("save_component_host")
    browser.post("/host.php", {**form, **token, **DEVICE}, what="create device")
    browser.get("/host.php?filter=new", "new device", "device listed")
    browser.post("/sites.php?header=false", {**token, "action": "save", "save_component_site": "1", "id": "0", "name": "Site X",
                                             "timezone": "UTC", "latitude": "1.5", "longitude": "2.5", "zoom": "5"},
                 what="create site")
    browser.post("/user_admin.php?header=false", {**token, **USER}, what="create user")
    browser.post("/tree.php?header=false", {**token, "action": "save", "save_component_tree": "1", "id": "0", "name": "Tree X",
                                            "sort_type": "1", "enabled": "on", "sequence": "0"}, what="create tree")


def pages(browser, place):
    """Fills the application, and returns its kinds of pages for record.py: a browser and paths for each."""
    for number in range(20):
        code, told = web.php("cli/add_device.php", f"--description=device {number}", f"--ip=127.0.1.{number + 1}", "--template=0",
                             "--avail=none", folder=site_of(place))
        browser.note(f"device {number}", code == 0, told)
    poll(browser, place, "poller")

    def of(*names):
        return (browser, [f"/{name}" for name in names])

    return {
        "console": of("index.php"),
        "devices": of("host.php", "host.php?filter=device&rows=10&page=2", "host.php?sort_column=hostname&sort_direction=DESC"),
        "device": of(*(f"host.php?action=edit&id={number}" for number in (1, 3, 5, 7))),
        "graphs": of("graphs.php", "graph_view.php?action=list", "graph_view.php?action=preview"),
        "tree": of("graph_view.php?action=tree", "tree.php"),
        "templates": of("graph_templates.php", "data_templates.php", "graph_templates.php?action=template_edit&id=1"),
        "sources": of("data_sources.php", "data_queries.php"),
        "users": of("user_admin.php", "user_admin.php?action=user_edit&id=1"),
        "settings": of("settings.php?tab=poller"),
        "log-of-users": of("utilities.php?action=view_user_log"),
    }
