"""Spirit, a forum: accounts, topics, comments, polls, likes, flags, private topics, searches, and moderation."""

import contextlib
import os
import re
import urllib.parse

import django_site

PACKAGES = ()
REQUIREMENTS = "spirit.txt"
DATABASE = "forum"
HERE = os.path.dirname(os.path.abspath(__file__))
SETTINGS = """from .dev import *
from .base import CACHES
DATABASES = {databases!r}
ST_RATELIMIT_ENABLE = False
ST_DOUBLE_POST_THRESHOLD_MINUTES = 0
"""
POLL = "Words, \u00fc.\n\n[poll name=first min=1 max=2 close=3d]\n# Which one\n1. this\n2. that\n3. none\n[/poll]\n"
COMMANDS = (("check",), ("makemigrations", "--check", "--dry-run"), ("rebuild_index", "--noinput"), ("update_index",),
            ("clearsessions",), ("migrate",), ("dumpdata", "--natural-foreign", "-o", "all.json"), ("sqlflush",),
            ("inspectdb",))
PAGES = ("/", "/category/", "/category/3/", "/topic/active/", "/topic/unread/", "/topic/favorite/", "/topic/notification/",
         "/topic/notification/unread/", "/topic/private/", "/topic/private/author/", "/comment/bookmark/1/create/", "/user/menu/",
         "/user/", "/search/?q=number", "/user/2/", "/user/topics/2/", "/user/likes/2/")
MODERATION = ("/st/admin/", "/st/admin/dashboard/", "/st/admin/config/", "/st/admin/category/", "/st/admin/comment/flag/",
              "/st/admin/comment/flag/closed/", "/st/admin/topic/deleted/", "/st/admin/topic/closed/", "/st/admin/topic/pinned/",
              "/st/admin/user/", "/st/admin/user/admins/", "/st/admin/user/mods/", "/st/admin/user/unactive/",
              "/st/admin/user/edit/2/", "/admin/", "/admin/auth/user/?q=a&o=1.-2", "/admin/auth/user/2/change/",
              "/admin/auth/user/2/history/", "/admin/auth/group/")


def drive(place):
    """Uses the application at `place` (run.py) and returns the browser of its administrator, with the checks of all."""
    with running(place) as admin:
        categories = [category(admin, f"Category {number}") for number in range(3)]
        category(admin, "Below", categories[0])
        users = [register(admin, place, f"user{number}") for number in range(3)]
        topics = [publish(users[number % 3], f"Topic number {number}", categories[number % 3],
                          f"Words of {number} \u00fc\U0001f600") for number in range(9)]
        for number, topic in enumerate(topics):
            comment(users[(number + 1) % 3], topic, f"An *answer* to {number} for @user{number % 3}")
        exchange(users, topics)
        poll(users, publish(users[0], "A poll", categories[1], POLL))
        private(users)
        moderate(admin, users, topics, categories)
        admin.commands(admin.project, COMMANDS)
        searches(users[0])
        for browser in (admin, users[1]):
            for page in PAGES:
                browser.ask(page, None)
                browser.note(page, browser.status in (200, 404, 405) and not django_site.FAULT.search(browser.text), browser.text)
        for page in MODERATION:
            admin.get(page)
        leave(admin, users[2])
        with open(os.path.join(HERE, "scripts", "spirit.py")) as file:
            admin.script(admin.project, file.read())
    admin.take(users)
    return admin


@contextlib.contextmanager
def running(place):
    """Sets the application up at `place` and returns the browser of its administrator."""
    place.sql(f"CREATE DATABASE {DATABASE} CHARACTER SET utf8mb4")
    project = django_site.Project("spirit", place, DATABASE)
    code, told = project.run("spirit", "startproject", "site_of_forum", f"--path={project.folder}")
    if code:
        raise RuntimeError(told)
    project.write("site_of_forum/__init__.py", django_site.DRIVER)
    project.write("site_of_forum/settings/local.py", SETTINGS.format(databases=project.settings))
    manage = os.path.join(project.folder, "manage.py")
    with open(manage) as file:
        text = file.read()
    with open(manage, "w") as file:
        file.write(text.replace(".settings.dev", ".settings.local"))
    project.must("spiritinstall")
    project.must("createcachetable")
    project.must("shell", "-c", "from django.contrib.auth import get_user_model as m; m().objects.create_superuser("
                 "'admin', 'admin@example.org', 'Secret123!x'); from spirit.user.models import UserProfile as P;"
                 "P.objects.update(is_moderator=True, is_administrator=True)")
    with project.served() as address:
        admin = django_site.Visitor(address)
        admin.project = project
        admin.login("/user/login/", "admin", "Secret123!x", "admin")
        yield admin


def category(admin, title, parent=""):
    """Makes a category, which the page of all of them names before its form, and returns its number."""
    admin.get("/st/admin/category/create/", "title")
    admin.post("/st/admin/category/create/", {"title": title, "description": f"About {title}", "parent": parent,
                                              "color": "#ff0000", "is_global": "on"}, title, f"category {title}")
    return admin.find(rf"(?s).*{title}.*?category/update/(\d+)/")


def register(admin, place, name):
    """Registers a user and follows the link of the letter."""
    visitor = django_site.Visitor(admin.base)
    visitor.get("/user/register/", "email2")
    visitor.post("/user/register/", {"username": name, "email": f"{name}@example.org", "email2": f"{name}@example.org",
                                     "password": "Secret123!y"}, what=f"register {name}")
    with open(place.log) as log:
        links = re.findall(r"/user/activation/\S+", log.read())
    visitor.get(links[-1] if links else "/no-link", what=f"activate {name}")
    visitor.login("/user/login/", name, "Secret123!y", name)
    return visitor


def publish(user, title, of_category, text):
    user.get("/topic/publish/", "comment")
    user.post("/topic/publish/", {"title": title, "category": of_category, "comment": text}, re.escape(title), f"publish {title}")
    number = re.search(r"/topic/(\d+)/", user.url)
    return number.group(1) if number else "0"


def comment(user, topic, text, path="publish"):
    user.get(f"/comment/{topic}/publish/", "comment")
    user.post(f"/comment/{topic}/{path}/", {"comment": text}, what=f"comment {text[:20]}")
    user.note(f"commented {topic}", re.search(rf"/topic/(private/)?{topic}/", user.url), user.url)


def comments_of(user, topic):
    user.get(f"/topic/{topic}/")
    return list(dict.fromkeys(re.findall(r"data-pk=.(\d+)", user.text)))


def exchange(users, topics):
    """Likes, notifications, bookmarks, favourites, flags and changes."""
    first, second, third = users
    for topic in topics[:4]:
        for user in users:
            for number in comments_of(user, topic):
                user.ask(f"/comment/like/{number}/create/", b"csrfmiddlewaretoken=" + user.cookie("csrftoken").encode())
                user.note(f"like {number}", user.status in (200, 403, 404) and not django_site.FAULT.search(user.text), user.text)
        second.post(f"/topic/favorite/{topic}/create/", {}, what=f"favorite {topic}")
        third.post(f"/topic/notification/{topic}/create/", {"is_active": "True"}, what=f"notification {topic}")
        bookmark(third, topic)
        comment(first, topic, f"One more about {topic}")
    numbers = comments_of(first, topics[0])
    for number in numbers[:1]:
        first.get(f"/comment/{number}/update/", "comment")
        first.post(f"/comment/{number}/update/", {"comment": "Changed by its writer"}, what="change a comment")
        third.get(f"/comment/history/{number}/", what="history")
        third.get(f"/comment/flag/{number}/create/", what="form of a flag")
        third.post(f"/comment/flag/{number}/create/", {"reason": "0", "body": "off topic"}, what="flag")
        third.get(f"/comment/{topics[0]}/publish/{number}/quote/", what="quote")
    first.get(f"/topic/update/{topics[0]}/", "title")
    first.post(f"/topic/update/{topics[0]}/", {"title": "Another title"}, "Another title", "change a title")
    third.get("/topic/notification/", what="notifications")
    third.post("/topic/notification/mark/", {}, what="all read")


def bookmark(user, topic):
    """Sends what the page's script sends while its reader scrolls."""
    fields = {"comment_number": "2", "csrfmiddlewaretoken": user.cookie("csrftoken")}
    user.ask(f"/comment/bookmark/{topic}/create/", urllib.parse.urlencode(fields).encode(), {"X-Requested-With": "XMLHttpRequest"})
    user.check(f"bookmark {topic}", None, django_site.FAULT)


def poll(users, topic):
    for user in users:
        user.get(f"/topic/{topic}/", "Which one", "poll")
        number = user.find(r"/comment/poll/vote/(\d+)/")
        choices = re.findall(r'name="choices" value="(\d+)"', user.text)
        for chosen in (choices[:2], choices[1:2]):
            user.post(f"/comment/poll/vote/{number}/", {"choices": chosen}, what="vote")
    users[0].get(f"/topic/{topic}/", "Which one")
    for choice in re.findall(r"/comment/poll/voters/(\d+)/", users[0].text):
        users[0].get(f"/comment/poll/voters/{choice}/", what="voters")
    users[0].post(f"/comment/poll/close/{number}/", {}, what="close")
    users[0].post(f"/comment/poll/open/{number}/", {}, what="open")


def private(users):
    first, second, third = users
    first.get("/topic/private/publish/", "title")
    first.post("/topic/private/publish/", {"title": "Between us", "comment": "Private words", "users": "user1"}, "Between us",
               "private")
    topic = re.search(r"/topic/private/(\d+)/", first.url)
    topic = topic.group(1) if topic else "0"
    second.get(f"/topic/private/{topic}/", "Between us", "read a private topic")
    comment(second, topic, "A private answer")
    first.post(f"/topic/private/invite/{topic}/", {"user": "user2"}, "user2", "invite")
    third.get("/topic/private/", "Between us", "invited")


def moderate(admin, users, topics, categories):
    for action in ("lock", "unlock", "pin", "unpin", "global-pin", "global-unpin", "delete", "undelete", "lock", "pin"):
        admin.post(f"/topic/moderate/{action}/{topics[3]}/", {}, what=f"{action} a topic")
    numbers = comments_of(admin, topics[1])
    for number in numbers[-1:]:
        admin.post(f"/comment/{number}/delete/", {}, what="delete a comment")
        admin.post(f"/comment/{number}/undelete/", {}, what="undelete a comment")
        admin.post(f"/comment/{topics[1]}/move/", {"topic": topics[4], "comments": [number]}, what="move a comment")
    admin.get("/st/admin/comment/flag/", what="flags")
    flag = admin.find(r"/st/admin/comment/flag/(\d+)/")
    admin.get(f"/st/admin/comment/flag/{flag}/", what="a flag")
    admin.post(f"/st/admin/comment/flag/{flag}/", {"is_closed": "on"}, what="close a flag")
    admin.post(f"/topic/update/{topics[5]}/", {"title": "Moved", "category": categories[0]}, "Moved", "move a topic")
    admin.get("/st/admin/user/edit/3/", "username")
    admin.post("/st/admin/user/edit/3/", {**admin.form("username"), "location": "Here"}, "Here", "change a user")
    admin.get("/st/admin/config/", "site_name")
    admin.post("/st/admin/config/", {**admin.form("site_name"), "site_name": "Our forum"}, "Our forum", "settings")


def searches(user):
    for words, wanted in (("topic", "Topic number"), ("poll", "A poll"), ("nowhere", None)):
        user.get(f"/search/?q={words}", wanted, f"search {words}")


def leave(admin, user):
    user.get("/user/", "location")
    user.post("/user/", {**user.form("location"), "location": "There", "timezone": "UTC"}, "There", "profile")
    user.get("/user/password-change/", "old_password")
    user.post("/user/password-change/", {"old_password": "Secret123!y", "new_password1": "Secret123!z",
                                         "new_password2": "Secret123!z"}, what="password")
    user.post("/user/logout/", {}, what="logout")
    admin.get("/admin/auth/user/add/", "username")
    admin.post("/admin/auth/user/add/", {"username": "made", "password1": "Secret123!m", "password2": "Secret123!m",
                                         "usable_password": "true"}, "made", "user of the administration")


def pages(admin, place):
    """Fills the application, and returns its kinds of pages for record.py: a browser and paths for each."""
    categories = [category(admin, f"Category {number}") for number in range(6)]
    users = [register(admin, place, f"user{number}") for number in range(6)]
    topics = [publish(users[n % 6], f"Topic number {n}", categories[n % 6], f"Words of topic {n}. " * 10) for n in range(50)]
    for turn in range(4):
        for number in range(0, 50, 1 + turn):
            comment(users[(number + turn) % 6], topics[number], f"Answer {turn} to {number} for @user{number % 6}. " * 3)
    for topic in topics[:20]:
        for number in comments_of(users[1], topic)[:2]:
            users[1].ask(f"/comment/like/{number}/create/", b"csrfmiddlewaretoken=" + users[1].cookie("csrftoken").encode())
    admin.take(users)
    visitor, some = django_site.Visitor(admin.base), topics[3:40:5]
    for topic in some:
        visitor.get(f"/topic/{topic}/")
    return {
        "front": (visitor, ["/", "/?page=2"]),
        "front-logged-in": (users[2], ["/", "/?page=2"]),
        "topic": (visitor, [f"/topic/{topic}/topic-number-{topics.index(topic)}/" for topic in some]),
        "topic-logged-in": (users[2], [f"/topic/{topic}/topic-number-{topics.index(topic)}/" for topic in some]),
        "category": (visitor, [f"/category/{number}/" for number in categories]),
        "search": (visitor, ["/search/?q=number", "/search/?q=words", "/search/?q=nowhere"]),
        "profile": (visitor, [f"/user/{number}/" for number in (2, 3, 4)]),
        "notifications": (users[2], ["/topic/notification/", "/topic/unread/"]),
        "publish": (users[2], ["/topic/publish/", f"/comment/{topics[0]}/publish/"]),
        "moderation": (admin, ["/st/admin/", "/st/admin/user/", "/st/admin/topic/pinned/"]),
        "administration": (admin, ["/admin/auth/user/", "/admin/auth/user/?q=user&o=-1"]),
    }

