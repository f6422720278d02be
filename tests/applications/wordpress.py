"""WordPress: installed with its own form; then posts, pages, comments, users, categories and searches, with the forms of its
administration and of a visitor."""

import contextlib
import os
import re
import urllib.parse

import web

PACKAGES = ("wordpress", "wordpress-theme-twentytwentythree", "php-cli", "php-mysql", "php-gd", "php-xml", "php-curl")
SOURCE = "/usr/share/wordpress"
DATABASE = "blog"
ADMIN = ("index.php", "edit.php", "post-new.php", "edit-tags.php?taxonomy=category", "edit-tags.php?taxonomy=post_tag",
         "upload.php", "media-new.php", "edit.php?post_type=page", "post-new.php?post_type=page", "edit-comments.php",
         "themes.php", "plugins.php", "users.php", "user-new.php", "profile.php", "tools.php", "import.php",
         "export.php", "site-health.php", "options-writing.php", "options-reading.php",
         "options-discussion.php", "options-media.php", "options-permalink.php", "edit.php?s=hello", "edit.php?m=202001",
         "edit.php?orderby=comment_count&order=desc", "users.php?role=administrator", "export.php?download=true&content=all")
VISITOR = ("/", "/?feed=rss2", "/?feed=comments-rss2", "/?s=hello", "/?cat=1", "/?author=1", "/?m=202001", "/?p=1",
           "/?page_id=2", "/index.php?rest_route=/wp/v2/posts", "/index.php?rest_route=/wp/v2/comments",
           "/index.php?rest_route=/wp/v2/search&search=hello", "/wp-cron.php")
POSTS = 12
POSTS_RECORDED = 60


def drive(place):
    """Uses the application at `place` (run.py) and returns the browser that used it."""
    with running(place) as browser:
        for page in ADMIN:
            browser.get(f"/wp-admin/{page}")
        write(browser)
        options(browser)
        for page in VISITOR:
            browser.get(page)
    return browser


@contextlib.contextmanager
def running(place):
    """Sets the application up at `place` and returns the browser of its administrator."""
    place.sql(f"CREATE DATABASE {DATABASE} CHARACTER SET utf8mb4")
    site = os.path.join(place.folder, "site")
    place.copy(SOURCE, site)
    configure(site, place)
    with web.served(site, place.log) as address:
        browser = web.Browser(address)
        install(browser)
        yield browser


def configure(site, place):
    constants = {"DB_NAME": DATABASE, "DB_USER": "root", "DB_PASSWORD": "", "DB_HOST": f"127.0.0.1:{place.port}",
                 "DB_CHARSET": "utf8mb4", "DB_COLLATE": "", "WP_HTTP_BLOCK_EXTERNAL": True, "DISABLE_WP_CRON": True,
                 "AUTOMATIC_UPDATER_DISABLED": True, "WP_DEBUG": False,
                 **{f"{kind}_{what}": f"{kind}-{what}" for kind in ("AUTH", "SECURE_AUTH", "LOGGED_IN", "NONCE")
                    for what in ("KEY", "SALT")}}
    lines = [f"define('{name}', {repr(value) if isinstance(value, str) else str(value).lower()});"
             for name, value in constants.items()]
    path = os.path.join(site, "wp-config.php")
    if os.path.lexists(path):
        os.remove(path)
    with open(path, "w") as file:
        file.write("<?php\n" + "\n".join(lines) + "\n$table_prefix = 'wp_';\n"
                   "if (!defined('ABSPATH')) define('ABSPATH', __DIR__ . '/');\nrequire_once ABSPATH . 'wp-settings.php';\n")


def install(browser):
    browser.get("/wp-admin/install.php")
    browser.post("/wp-admin/install.php?step=2", {
        "weblog_title": "A blog", "user_name": "admin", "admin_password": "Secret123!x", "admin_password2": "Secret123!x",
        "pw_weak": "1", "admin_email": "a@example.org", "blog_public": "0", "language": ""}, "Success|Log In", "install")
    browser.get("/wp-login.php")
    browser.post("/wp-login.php", {"log": "admin", "pwd": "Secret123!x", "wp-submit": "Log In", "testcookie": "1",
                                   "redirect_to": "/wp-admin/"}, "Dashboard", "login")


def write(browser):
    """Writes posts and pages through the interface of the editor, and comments with a visitor's form."""
    browser.get("/wp-admin/post-new.php")
    nonce = browser.find(r'createNonceMiddleware\(\s*"([^"]+)"')
    numbers = []
    for number in range(POSTS):
        kind = "pages" if number % 4 == 3 else "posts"
        fields = {"title": f"Hello number {number} \u00fc", "content": "<p>Words of a post.</p>" * (number + 1),
                  "status": "draft" if number % 5 == 4 else "publish", "date": f"2020-01-{number + 1:02}T10:00:00",
                  "_wpnonce": nonce}
        # An answer 201 is not a page, so its status is checked here.
        browser.ask(f"/index.php?rest_route=/wp/v2/{kind}", fields_of(fields))
        browser.note(f"write {number}", browser.status == 201, browser.text)
        numbers.append(browser.find(r'"id":(\d+)'))
    for number in numbers[:3]:
        edited = {"title": "Hello again", "content": "Changed.", "_wpnonce": nonce}
        browser.post(f"/index.php?rest_route=/wp/v2/posts/{number}", edited, what="edit")
        comment = {"author": "Visitor", "email": "v@example.org", "comment": f"A word about {number}",
                   "comment_post_ID": number, "comment_parent": "0", "submit": "Post Comment"}
        browser.post("/wp-comments-post.php", comment, what="comment")
    browser.ask("/index.php?rest_route=/wp/v2/categories", fields_of({"name": "News", "_wpnonce": nonce}))
    browser.note("category", browser.status == 201, browser.text)
    user = {"username": "writer", "email": "w@example.org", "password": "Secret123!y", "roles": "author", "_wpnonce": nonce}
    browser.ask("/index.php?rest_route=/wp/v2/users", fields_of(user))
    browser.note("user", browser.status == 201, browser.text)
    browser.ask(f"/index.php?rest_route=/wp/v2/posts/{numbers[5]}&_method=DELETE", fields_of({"_wpnonce": nonce}))
    browser.note("trash", browser.status == 200, browser.text)


def fields_of(fields):
    return urllib.parse.urlencode(fields).encode()


def options(browser):
    # The page warns, in words like those of a fault, that it cannot ask for translations.
    browser.get("/wp-admin/options-general.php", "blogname", fault=None)
    form = browser.form("blogname")
    browser.post("/wp-admin/options.php", {**form, "blogname": "Another name"}, "Another name", "options", fault=None)
    browser.get("/wp-admin/edit-comments.php?comment_status=moderated")
    for page in re.findall(r"post\.php\?post=(\d+)&#038;action=edit|post\.php\?post=(\d+)&amp;action=edit", browser.text)[:3]:
        number = next(filter(None, page))
        browser.get(f"/wp-admin/post.php?post={number}&action=edit")


def pages(browser, _):
    """Fills the application, and returns its kinds of pages for record.py: a browser and paths for each."""
    browser.get("/wp-admin/post-new.php")
    nonce = browser.find(r'createNonceMiddleware\(\s*"([^"]+)"')

    def make(kind, **fields):
        browser.ask(f"/index.php?rest_route=/wp/v2/{kind}", urllib.parse.urlencode({**fields, "_wpnonce": nonce}, True).encode())
        browser.note(f"{kind} {fields}", browser.status == 201, browser.text)
        return browser.find(r'"id":(\d+)')

    categories = [make("categories", name=f"Category {n}") for n in range(6)]
    tags = [make("tags", name=f"tag {n}") for n in range(20)]
    writers = [make("users", username=f"writer{n}", email=f"w{n}@example.org", password="Secret123!y", roles="author")
               for n in range(10)]
    for number in range(10):
        make("pages", title=f"About {number}", content="<p>Text of a page.</p>" * 20, status="publish")
    posts = [make("posts", title=f"Post {n} of the blog", content=f"<p>Word{n} and many more words of a post.</p>" * (10 + n),
                  excerpt=f"In short {n}", status="publish", author=writers[n % 10],
                  date=f"20{15 + n // 12}-{n % 12 + 1:02}-10T10:00:00",
                  **{"categories[]": [categories[n % 6], categories[n * 5 % 6]], "tags[]": [tags[n % 20], tags[n * 7 % 20]]})
             for n in range(POSTS_RECORDED)]
    for number in range(3 * POSTS_RECORDED):
        make("comments", post=posts[number * 7 % POSTS_RECORDED], author_name=f"Visitor {number % 12}", status="approved",
             author_email=f"v{number % 12}@example.org", content=f"A word {number} about this, and others.")
    visitor, some = web.Browser(browser.base), posts[5:50:6]
    return {
        "front": (visitor, ["/", "/?paged=2", "/?paged=4"]),
        "post": (visitor, [f"/?p={post}" for post in some]),
        "post-logged-in": (browser, [f"/?p={post}" for post in some]),
        "category": (visitor, [f"/?cat={category}" for category in categories]),
        "search": (visitor, [f"/?s={word}" for word in ("word7", "many+words", "nothing-like-it")]),
        "feed": (visitor, ["/?feed=rss2"]),
        "rest": (visitor, ["/index.php?rest_route=/wp/v2/posts&per_page=20", "/index.php?rest_route=/wp/v2/comments"]),
        "admin-front": (browser, ["/wp-admin/index.php"]),
        "admin-posts": (browser, ["/wp-admin/edit.php", "/wp-admin/edit.php?paged=2", "/wp-admin/edit.php?s=word7"]),
        "admin-comments": (browser, ["/wp-admin/edit-comments.php", "/wp-admin/edit-comments.php?paged=2"]),
        "admin-edit": (browser, [f"/wp-admin/post.php?post={post}&action=edit" for post in some[:4]]),
    }
