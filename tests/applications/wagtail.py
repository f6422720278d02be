"""Wagtail: a site made with its own command, with pages of news; pages written, moved, copied and searched in its
administration and by its programming interface."""

import contextlib
import json
import os
import re
import shutil

import django_site

PACKAGES = ()
REQUIREMENTS = "wagtail.txt"
DATABASE = "site"
HERE = os.path.dirname(os.path.abspath(__file__))
PASSWORD = "Secret123!x"
COMMANDS = (("check",), ("migrate",), ("makemigrations", "--check", "--dry-run"), ("update_index",), ("createcachetable",),
            ("fixtree",), ("rebuild_references_index",), ("purge_revisions",), ("publish_scheduled",), ("clearsessions",),
            ("show_references_index",), ("dumpdata", "-o", "all.json"), ("sqlflush",), ("inspectdb",), ("set_url_paths",),
            ("purge_embeds",), ("showmigrations",))
PAGES = (
    "/", "/news/", "/news/?tag=common", "/news/article-1/", "/search/?query=particular1", "/search/?query=common+words", "/admin/",
    "/admin/pages/", "/admin/pages/{index}/", "/admin/pages/{index}/?ordering=-latest_revision_created_at",
    "/admin/pages/{article}/edit/",
    "/admin/pages/{index}/?q=article&ordering=title", "/admin/pages/{article}/history/", "/admin/pages/{article}/usage/",
    "/admin/pages/{article}/delete/", "/admin/pages/{article}/copy/", "/admin/pages/{article}/move/",
    "/admin/pages/{article}/view_draft/", "/admin/pages/{article}/privacy/", "/admin/pages/search/?q=article",
    "/admin/pages/search/?q=particular1&content_type=news.article",
    "/admin/images/", "/admin/images/add/", "/admin/documents/", "/admin/reports/site-history/", "/admin/reports/locked/",
    "/admin/reports/aging-pages/", "/admin/reports/page-types-usage/", "/admin/reports/workflow/", "/admin/reports/workflow_tasks/",
    "/admin/users/", "/admin/users/?q=adm", "/admin/groups/", "/admin/groups/edit/1/", "/admin/sites/", "/admin/sites/edit/2/",
    "/admin/collections/", "/admin/redirects/", "/admin/forms/", "/admin/workflows/list/", "/admin/workflows/tasks/index/",
    "/admin/snippets/", "/admin/snippets/news/author/", "/admin/snippets/news/author/?q=writer", "/admin/account/",
    "/admin/choose-page/", "/admin/choose-page/search/?q=article", "/django-admin/", "/django-admin/auth/user/?q=a",
    "/django-admin/taggit/tag/?o=-1")


def drive(place):
    """Uses the application at `place` (run.py) and returns the browser that used it."""
    with running(place) as browser:
        index = news(browser)
        articles = [write(browser, index, number) for number in range(6)]
        change(browser, index, articles)
        with open(os.path.join(HERE, "scripts", "wagtail.py")) as file:
            browser.script(browser.project, file.read())
        for page in PAGES:
            browser.get(page.format(index=index, article=articles[1]))
        browser.get("/search/?query=particular3", "Article 3", "found")
        browser.commands(browser.project, COMMANDS)
    return browser


@contextlib.contextmanager
def running(place):
    """Sets the application up at `place` and returns the browser of its administrator."""
    place.sql(f"CREATE DATABASE {DATABASE} CHARACTER SET utf8mb4")
    project = django_site.Project("wagtail", place, DATABASE)
    project.begin("wagtail", "start", "mysite")
    project.write("mysite/settings/base.py", f"\nDATABASES = {project.settings!r}\nINSTALLED_APPS += ['news']\n")
    shutil.copytree(os.path.join(HERE, "wagtail_news"), os.path.join(project.folder, "news"))
    project.must("makemigrations", "news")
    project.must("migrate")
    project.must("shell", "-c", "from django.contrib.auth import get_user_model as m; m().objects.create_superuser("
                 f"'admin', 'admin@example.org', '{PASSWORD}')")
    with project.served() as address:
        browser = django_site.Visitor(address)
        browser.project = project
        browser.get("/", None, "front")
        browser.login("/admin/login/", "admin", PASSWORD, "Dashboard")
        yield browser


def news(browser):
    """Makes the index of the news and returns its number."""
    browser.get("/admin/pages/", what="root")
    root = browser.find(r"/admin/pages/(\d+)/edit/") or "3"
    page = f"/admin/pages/add/news/newsindex/{root}/"
    browser.get(page, "title")
    browser.post(page, {**browser.form('name="title"'), "title": "News", "slug": "news", "action-publish": "action-publish"},
                 "has been published|created and published", "index of news")
    number = browser.find(r"/admin/pages/(\d+)/edit/[^>]*>\s*Edit") or browser.find(r"(?s)News.*?/admin/pages/(\d+)/edit/")
    for name in ("A writer", "Another writer"):
        browser.get("/admin/snippets/news/author/add/", 'name="name"')
        browser.post("/admin/snippets/news/author/add/", {"name": name}, name, f"author {name}")
    return number


def text(number):
    """A text as the editor of the administration sends it."""
    lines = [f"Particular{number} and common words of an article.", "More of the same. " * 5]
    return json.dumps({"entityMap": {}, "blocks": [
        {"key": f"k{at}", "text": line, "type": "unstyled", "depth": 0, "inlineStyleRanges": [], "entityRanges": []}
        for at, line in enumerate(lines)]})


def write(browser, index, number):
    page = f"/admin/pages/add/news/article/{index}/"
    browser.get(page, 'name="intro"')
    fields = {**browser.form('name="intro"'), "title": f"Article {number}", "slug": f"article-{number}",
              "intro": f"In short {number} \u00fc", "date": f"2020-{number % 12 + 1:02}-10", "body": text(number),
              "tags": f'"tag {number % 5}", common', "authors": [str(1 + number % 2)], "links-TOTAL_FORMS": "1",
              "links-0-url": "https://example.org/", "links-0-text": "a link", "links-0-ORDER": "1", "links-0-id": "",
              "links-0-DELETE": "", "action-publish": "action-publish"}
    browser.post(page, fields, "published", f"article {number}")
    found = re.search(rf"(?s)Article {number}\b.*?/admin/pages/(\d+)/edit/", browser.text)
    return found.group(1) if found else "0"


def change(browser, index, articles):
    first, second, third, fourth = articles[:4]

    def send(page, name, fields, want, what):
        browser.get(page, what=f"form of {what}")
        browser.post(page, {**browser.form(name), **fields}, want, what)

    for turn, action in enumerate(({}, {"action-publish": "action-publish"})):
        changed = {"intro": f"Changed {turn}", "body": text(90 + turn), **action}
        send(f"/admin/pages/{first}/edit/", 'name="intro"', changed, "saved|published", f"change {turn}")
    browser.get(f"/admin/pages/{first}/history/", "Published|published", "history")
    revisions = re.findall(rf"/admin/pages/{first}/revisions/(\d+)/revert/", browser.text)
    for revision in revisions[-1:]:
        browser.get(f"/admin/pages/{first}/revisions/{revision}/view/", what="old revision")
        browser.get(f"/admin/pages/{first}/revisions/{revision}/revert/", what="revert")
        browser.get(f"/admin/pages/{first}/revisions/compare/{revision}...latest/", what="compare")
    send(f"/admin/pages/{second}/copy/", 'name="new_title"', {"new_title": "A copy", "new_slug": "a-copy"}, "copied", "copy")
    browser.post(f"/admin/pages/{third}/unpublish/", {}, "unpublished", "unpublish")
    browser.post(f"/admin/pages/{fourth}/move/{second}/confirm/", {}, "moved", "move")
    browser.post(f"/admin/pages/{articles[4]}/delete/", {}, "deleted", "delete")
    browser.post(f"/admin/pages/{second}/lock/", {}, what="lock")
    browser.post(f"/admin/pages/{second}/unlock/", {}, what="unlock")
    send("/admin/redirects/add/", 'name="old_path"', {"old_path": "/old/", "redirect_link": "https://example.org/"}, "added",
         "redirect")
    send("/admin/collections/add/", 'name="name"', {"name": "A collection", "parent": "1"}, "created", "collection")
    send("/admin/users/new/", 'name="email"', {"username": "second", "email": "s@example.org", "first_name": "S", "last_name": "T",
                                              "password1": PASSWORD, "password2": PASSWORD}, "created", "user")
    send("/admin/groups/new/", 'name="name"', {"name": "Readers"}, "created", "group")
    browser.get("/admin/documents/add/", what="form of a document")
    send_file = {"title": "A file", "collection": "1", "tags": "files"}
    browser.upload("/admin/documents/add/", send_file, "file", "words.txt", b"Words of a file.\n", what="document")
    send(f"/admin/pages/{index}/privacy/", 'name="restriction_type"', {"restriction_type": "login"}, None, "privacy")
    send(f"/admin/pages/{index}/privacy/", 'name="restriction_type"', {"restriction_type": "none"}, None, "no privacy")


def pages(browser, _):
    """Fills the application, and returns its kinds of pages for record.py: a browser and paths for each."""
    index = news(browser)
    articles = [write(browser, index, number) for number in range(50)]
    for article in articles[::5]:
        browser.get(f"/admin/pages/{article}/edit/")
        browser.post(f"/admin/pages/{article}/edit/", {**browser.form('name="intro"'), "intro": "Changed", "action-publish": "x"},
                     what=f"change {article}")
    visitor, some = django_site.Visitor(browser.base), list(range(3, 50, 6))
    return {
        "front": (visitor, ["/"]),
        "list": (visitor, ["/news/", "/news/?tag=common", "/news/?tag=tag+3"]),
        "article": (visitor, [f"/news/article-{number}/" for number in some]),
        "article-logged-in": (browser, [f"/news/article-{number}/" for number in some]),
        "search": (visitor, [f"/search/?query={words}" for words in ("particular7", "common+words", "nowhere")]),
        "admin-front": (browser, ["/admin/"]),
        "admin-list": (browser, [f"/admin/pages/{index}/", f"/admin/pages/{index}/?ordering=title&p=2"]),
        "admin-search": (browser, ["/admin/pages/search/?q=article", "/admin/pages/search/?q=particular9"]),
        "admin-edit": (browser, [f"/admin/pages/{articles[number]}/edit/" for number in some[:4]]),
        "admin-history": (browser, [f"/admin/pages/{articles[number]}/history/" for number in (0, 5, 10)]),
        "admin-report": (browser, ["/admin/reports/site-history/"]),
    }
