"""django-wiki: articles in a tree, their revisions, moves, deletions, permissions, attachments, notifications and searches."""

import contextlib
import os
import re
import urllib.parse

import django_site

PACKAGES = ()
REQUIREMENTS = "wiki.txt"
DATABASE = "wiki"
HERE = os.path.dirname(os.path.abspath(__file__))
PASSWORD = "Secret123!x"
SETTINGS = """
DATABASES = {databases!r}
ALLOWED_HOSTS = ['*']
INSTALLED_APPS += ['django.contrib.sites', 'django.contrib.humanize', 'django_nyt', 'mptt', 'sekizai', 'sorl.thumbnail', 'wiki',
                   'wiki.plugins.attachments', 'wiki.plugins.notifications', 'wiki.plugins.images', 'wiki.plugins.macros',
                   'wiki.plugins.globalhistory', 'wiki.plugins.links', 'wiki.plugins.help', 'wiki.plugins.redlinks']
TEMPLATES[0]['OPTIONS']['context_processors'] += ['django.template.context_processors.' + name for name in
                                                  ('i18n', 'media', 'static', 'tz')] + ['sekizai.context_processors.sekizai']
SITE_ID = 1
LOGIN_REDIRECT_URL = '/'
EMAIL_BACKEND = 'django.core.mail.backends.dummy.EmailBackend'
DEFAULT_AUTO_FIELD = 'django.db.models.AutoField'
MEDIA_ROOT = BASE_DIR / 'media'
STATIC_ROOT = BASE_DIR / 'static'
WIKI_ATTACHMENTS_PATH = 'attachments/%aid/'
WIKI_ATTACHMENTS_LOCAL_PATH = str(BASE_DIR / 'attachments')
WIKI_REVISIONS_PER_MINUTES = WIKI_REVISIONS_PER_HOUR = 10000
"""
URLS = """from django.contrib import admin
from django.urls import include, path
urlpatterns = [path("admin/", admin.site.urls), path("notifications/", include("django_nyt.urls")), path("", include("wiki.urls"))]
"""
COMMANDS = (("check",), ("migrate",), ("clearsessions",), ("notifymail", "--cron"), ("dumpdata", "-o", "all.json"), ("sqlflush",),
            ("inspectdb",), ("thumbnail", "cleanup"), ("showmigrations",))
PAGES = ("", "_dir/", "_history/", "_source/", "_settings/", "_edit/", "_create/", "_search/?q=particular1", "_search/?q=words",
         "_admin/", "_plugin/globalhistory/", "_plugin/globalhistory/?page=1", "_plugin/attachments/", "_plugin/images/",
         "article-1/", "article-1/_dir/", "article-1/_history/", "article-1/_source/", "article-1/_settings/", "article-1/_edit/",
         "article-1/_move/", "article-1/_delete/", "article-1/_plugin/attachments/",
         "article-1/_plugin/attachments/search/?query=words",
         "article-1/_plugin/images/", "article-1/below-1/", "article-1/below-1/_history/", "_accounts/settings/",
         "notifications/json/get/", "_plugin/notifications/", "admin/", "admin/wiki/article/", "admin/wiki/urlpath/",
         "admin/wiki/articlerevision/?q=article", "admin/auth/user/?q=a&o=-1", "admin/wiki_attachments/attachment/")


def drive(place):
    """Uses the application at `place` (run.py) and returns the browser that used it."""
    with running(place) as browser:
        for number in range(6):
            create(browser, "", number)
        for number in range(3):
            create(browser, "article-1/", number, "below")
        visitor = sign_up(browser, "writer")
        change(browser, visitor)
        attach(browser)
        notify(browser, visitor)
        for page in PAGES:
            browser.get(f"/{page}")
        for page in PAGES[:20]:
            visitor.ask(f"/{page}", None)
            visitor.note(page, visitor.status in (200, 403) and not django_site.FAULT.search(visitor.text), visitor.text)
        search(browser)
        with open(os.path.join(HERE, "scripts", "wiki.py")) as file:
            browser.script(browser.project, file.read())
        browser.commands(browser.project, COMMANDS)
        browser.take([visitor])
    return browser


@contextlib.contextmanager
def running(place):
    """Sets the application up at `place` and returns the browser of its administrator."""
    place.sql(f"CREATE DATABASE {DATABASE} CHARACTER SET utf8mb4")
    project = django_site.Project("wiki", place, DATABASE)
    project.begin("django-admin", "startproject", "mysite")
    project.write("mysite/settings.py", SETTINGS.format(databases=project.settings))
    with open(os.path.join(project.folder, "mysite", "urls.py"), "w") as file:
        file.write(URLS)
    project.must("migrate")
    project.must("shell", "-c", "from django.contrib.auth import get_user_model as m; m().objects.create_superuser("
                 f"'admin', 'admin@example.org', '{PASSWORD}')")
    with project.served() as address:
        browser = django_site.Visitor(address)
        browser.project = project
        browser.login("/_accounts/login/", "admin", PASSWORD, "admin")
        browser.get("/create-root/", 'name="content"')
        browser.post("/create-root/", {"title": "Root", "content": "The beginning, with [TOC] and [[article-1]].\n\n# Head\nText"},
                     "The beginning", "root")
        yield browser


def text_of(number, kind="article"):
    return (f"# Head {number}\n\nParticular{number} words of {kind} {number} \u00fc\U0001f600, "
            f"a [link](wiki:/article-{number + 1}/).\n\n" + f"More of the same {number}. " * 20 + "\n\n[article_list depth:1]\n")


def create(browser, parent, number, kind="article"):
    title = f"{kind.capitalize()} {number}"
    browser.get(f"/{parent}_create/", 'name="slug"')
    fields = {"title": title, "slug": f"{kind}-{number}", "content": text_of(number, kind), "summary": "new"}
    browser.post(f"/{parent}_create/", fields, f"words of {kind} {number}", title)


def sign_up(browser, name):
    visitor = django_site.Visitor(browser.base)
    visitor.get("/_accounts/sign-up/", 'name="password1"')
    visitor.post("/_accounts/sign-up/", {**visitor.form('name="password1"'), "username": name, "email": f"{name}@example.org",
                                         "password1": PASSWORD, "password2": PASSWORD}, what=f"sign up {name}")
    visitor.login("/_accounts/login/", name, PASSWORD, name)
    return visitor


def edit(browser, path, text, want, what):
    browser.get(f"/{path}_edit/", 'name="current_revision"')
    form = browser.form('name="current_revision"')
    browser.post(f"/{path}_edit/", {**form, "content": text, "summary": what, "save": "1"}, want, what)


def change(browser, visitor):
    """Edits, conflicts, old revisions, moves, deletions and permissions."""
    edit(browser, "article-1/", text_of(1) + "\nA change.", "A change", "edit")
    edit(visitor, "article-2/", text_of(2) + "\nA change by another.", "by another", "edit of another")
    browser.get("/article-2/_edit/")
    old = browser.form('name="current_revision"')
    edit(visitor, "article-2/", text_of(2) + "\nFirst.", "First", "a change between")
    browser.post("/article-2/_edit/", {**old, "content": "Second", "save": "1"}, None, "conflict")
    browser.get("/article-1/_history/", "revision")
    revisions = list(dict.fromkeys(re.findall(r"/_revision/diff/(\d+)/", browser.text)))
    browser.note("revisions", len(revisions) > 1, str(revisions))
    for revision in revisions:
        browser.get(f"/_revision/diff/{revision}/", what=f"diff {revision}")
    browser.get(f"/article-1/_revision/change/{revisions[-1]}/", what="old revision")
    browser.get(f"/article-1/_revision/merge/{revisions[0]}/", what="merge")
    browser.post("/article-1/_preview/", {"title": "Preview", "content": "Only seen", "summary": ""}, "Only seen", "preview")
    browser.get("/article-3/_move/", 'name="destination"')
    browser.post("/article-3/_move/", {"destination": "3", "slug": "moved", "redirect": "on"}, "Article 3", "move")
    browser.get("/article-4/_delete/", 'name="confirm"')
    browser.post("/article-4/_delete/", {**browser.form('name="confirm"'), "confirm": "on"}, what="delete")
    browser.get("/_admin/", "Article 4", "deleted articles")
    browser.get("/article-4/_deleted/", what="page of a deleted article")
    browser.get("/article-4/_deleted/?restore=1", what="restore")
    browser.get("/article-5/_delete/", 'name="confirm"')
    browser.post("/article-5/_delete/", {**browser.form('name="confirm"'), "confirm": "on", "purge": "on"}, what="purge")
    browser.get("/article-2/_settings/", "other_write")
    form = {name: value for name, value in browser.form("other_write").items() if name != "other_write"}
    browser.post("/article-2/_settings/?f=form0", {**form, "owner_username": "writer", "group_read": "on", "other_read": "on"},
                 what="permissions")


def attach(browser):
    for turn in range(2):
        browser.get("/article-1/_plugin/attachments/", 'name="file"')
        browser.upload("/article-1/_plugin/attachments/", {"description": f"words {turn}"}, "file", f"words{turn}.txt",
                       b"Words of a file.\n", what="attach")
    number = browser.find(r"/attachments/history/(\d+)/") or browser.find(r"/attachments/download/(\d+)/") or "1"
    browser.upload(f"/article-1/_plugin/attachments/replace/{number}/", {"description": "replaced"}, "file", "words0.txt",
                   b"Others.\n", what="replace")
    browser.get(f"/article-1/_plugin/attachments/history/{number}/", what="history of a file")
    browser.ask(f"/article-1/_plugin/attachments/download/{number}/", None)
    browser.note("download", browser.status == 200 and "Others" in browser.text, browser.text)
    browser.get("/article-1/_plugin/attachments/search/?query=words", "words", "search of files")


def notify(browser, visitor):
    visitor.get("/article-1/_settings/", "Notifications")
    form = visitor.form("settings")
    visitor.post("/article-1/_settings/?f=form1", {**form, "edit": "on", "settings": form.get("settings", "")}, what="subscribe")
    edit(browser, "article-1/", text_of(1) + "\nFor those who wait.", "who wait", "edit with notice")
    visitor.get("/notifications/json/get/", what="notices")


def search(browser):
    for words, wanted in (("Particular1", "Article 1"), ("words of below", "Below"), ("nowheretobefound", None)):
        browser.get(f"/_search/?q={urllib.parse.quote(words)}", wanted, f"search {words}")


def pages(browser, _):
    """Fills the application, and returns its kinds of pages for record.py: a browser and paths for each."""
    for number in range(30):
        create(browser, "", number)
    for number in range(20):
        create(browser, f"article-{number % 5}/", number, "below")
    for turn in range(3):
        for number in range(0, 30, 2 + turn):
            edit(browser, f"article-{number}/", text_of(number) + f"\nChange {turn}.", "Change", f"change {turn}")
    visitor, some = django_site.Visitor(browser.base), [f"/article-{number}/" for number in (1, 3, 7, 12, 18)]
    return {
        "front": (visitor, ["/"]),
        "article": (visitor, some),
        "article-logged-in": (browser, some),
        "history": (visitor, [f"{path}_history/" for path in some]),
        "edit": (browser, [f"{path}_edit/" for path in some]),
        "list": (visitor, ["/_dir/", "/article-1/_dir/"]),
        "search": (visitor, ["/_search/?q=particular7", "/_search/?q=more+of+the+same", "/_search/?q=nowhere"]),
        "all-changes": (browser, ["/_plugin/globalhistory/"]),
        "administration": (browser, ["/admin/wiki/article/", "/admin/wiki/articlerevision/?q=article"]),
    }
