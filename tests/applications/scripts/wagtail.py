"""Runs inside the project of wagtail.py: trees, revisions, searches and queries. Each check prints a line that begins with ok."""

import datetime

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.db import connection, transaction
from django.db.models import Count, Exists, F, Max, OuterRef, Q, Subquery, Window
from django.db.models.functions import RowNumber
from news.models import Article, Author, NewsIndex
from taggit.models import Tag
from wagtail.models import Collection, Page, PageLogEntry, PageViewRestriction, ReferenceIndex, Revision, Site

assert connection.vendor == "mysql"


def show(what, value, wanted=None):
    if wanted is not None and value != wanted:
        raise AssertionError(f"{what}: {value} instead of {wanted}")
    print("ok", what, value)


def article(parent, number, **fields):
    page = Article(title=f"Written {number} \u00fc\U0001f600", date=datetime.date(2020, 1, 1 + number % 28),
                   intro=f"In short {number}", body=f"<p>Particular{number} and common words of a text.</p>", **fields)
    parent.add_child(instance=page)
    page.authors.set(Author.objects.filter(pk__lte=2))
    page.tags.add(f"tag {number % 3}", "all")
    page.save()
    page.save_revision().publish()
    return page


root = Site.objects.get(is_default_site=True).root_page
Author.objects.bulk_create([Author(name=f"Author {number}") for number in range(3)])
index = root.add_child(instance=NewsIndex(title="Script", slug="script"))
pages = [article(index, number) for number in range(12)]
show("children", index.get_children().count(), 12)
pages[0].title = "Edited by hand"
pages[0].save_revision().publish()
pages[1].unpublish()
pages[2].delete()
pages[3].move(pages[4], pos="first-child")
pages[5].refresh_from_db()
copied = pages[5].copy(update_attrs={"title": "A copy", "slug": "a-copy"})
index.refresh_from_db()
show("tree", [page.depth for page in Page.objects.descendant_of(index).order_by("path")])
show("problems", Page.find_problems(), ([], [], [], [], []))
show("live", Page.objects.live().descendant_of(index).count(), 11)
show("ancestors", [page.title for page in Page.objects.ancestor_of(Page.objects.get(pk=pages[3].pk), inclusive=True)])
show("siblings", Page.objects.sibling_of(pages[4]).count())
show("types", Page.objects.exact_type(Article).count())
show("specific", len(list(Page.objects.descendant_of(index).specific())))
show("in order", Page.objects.descendant_of(index).order_by("-path").first().title)

for words, wanted in (("particular7", ["Written 7 \u00fc\U0001f600"]), ("edited", ["Edited by hand"]), ("nowhere", [])):
    show(f"search {words}", [page.title for page in Article.objects.live().search(words)], wanted)
show("search of all", len(Page.objects.live().search("common words")))
show("search or", len(Article.objects.search("particular6 particular8", operator="or")))
show("search and", len(Article.objects.search("particular6 particular8", operator="and")), 0)
show("autocomplete", len(Article.objects.autocomplete("shor")))
show("search in order", len(Article.objects.order_by("-date").search("common", order_by_relevance=False)))
show("search of a field", len(Article.objects.search("common", fields=["body"])))
show("search and filter", len(Article.objects.filter(date__lt=datetime.date(2020, 1, 8)).search("common")))

revisions = list(pages[0].revisions.order_by("pk"))
show("revisions", len(revisions), 2)
revisions[0].publish()
show("published again", Page.objects.get(pk=pages[0].pk).title, "Written 0 \u00fc\U0001f600")
show("latest", Revision.objects.filter(object_id=str(pages[0].pk)).aggregate(n=Count("id"), m=Max("id"))["n"])
show("aliases", Page.objects.get(pk=pages[6].pk).specific.create_alias(update_slug="an-alias").title)
later = Page.objects.get(pk=pages[7].pk).specific
later.go_live_at = datetime.datetime(2040, 1, 1, tzinfo=datetime.timezone.utc)
later.save_revision(approved_go_live_at=later.go_live_at)
show("scheduled", Page.objects.get(pk=pages[7].pk).get_latest_revision() is not None)
restricted = PageViewRestriction.objects.create(page=pages[8], restriction_type="groups")
restricted.groups.add(Group.objects.first())
show("restricted", Page.objects.public().descendant_of(index).count())
show("references", ReferenceIndex.objects.count() >= 0)
show("collections", Collection.get_first_root_node().add_child(name="Files").depth)
show("log", PageLogEntry.objects.filter(page=pages[0].pk).values("action").annotate(n=Count("id")).order_by("action").count())

show("groups", list(Page.objects.values("depth").annotate(n=Count("id"), m=Max("path")).order_by("depth")))
show("window", list(Article.objects.annotate(r=Window(RowNumber(), partition_by=F("live"), order_by=F("id").desc()))
                    .values_list("r", flat=True).order_by("id")))
show("subquery", Page.objects.annotate(c=Subquery(Page.objects.filter(depth=OuterRef("depth")).values("id")[:1]))
     .filter(Exists(Page.objects.filter(pk=OuterRef("pk")))).count())
show("regex", Page.objects.filter(title__iregex="^written [0-9] ").count())
show("contains", Page.objects.filter(title__contains="\U0001f600").count())
show("starts with", Page.objects.filter(title__istartswith="wriTTen").count())
written = Page.objects.filter(title__startswith="Written")
show("union", written.values("pk").union(Page.objects.filter(depth=1).values("pk")).count())
show("of tags", list(Tag.objects.annotate(n=Count("news_articletag_items")).values_list("name", "n").order_by("name")))
show("of authors", list(Author.objects.annotate(n=Count("article", filter=Q(article__live=True)))
                        .values_list("n", flat=True).order_by("pk")))
with transaction.atomic():
    show("for update", len(Page.objects.select_for_update().filter(depth=2)))
    show("skip locked", len(Page.objects.select_for_update(skip_locked=True).filter(depth=2)))
    show("no wait", Page.objects.select_for_update(nowait=True).order_by("pk").first().pk)
with transaction.atomic():
    mark = transaction.savepoint()
    Page.objects.filter(depth=2).update(title="not kept")
    transaction.savepoint_rollback(mark)
show("savepoint", Page.objects.filter(title="not kept").count(), 0)
moment = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)
entries = [PageLogEntry(content_type_id=1, label="x", action="wagtail.create", timestamp=moment, page_id=pages[0].id,
                        uuid=None, data={"a": [1, {"b": number}], "c": None}) for number in range(50)]
show("bulk", len(PageLogEntry.objects.bulk_create(entries)), 50)
show("json path", PageLogEntry.objects.filter(data__a__1__b=7).count(), 1)
show("json key", PageLogEntry.objects.filter(data__has_key="c").count(), 50)
show("json keys", PageLogEntry.objects.filter(data__has_any_keys=["a", "z"]).count(), 50)
show("json contains", PageLogEntry.objects.filter(data__a__contains=[1]).count(), 50)
show("json null", PageLogEntry.objects.filter(data__c=None).count(), 50)
show("json greater", PageLogEntry.objects.filter(data__a__1__b__gt=40).count(), 9)
show("json in", PageLogEntry.objects.filter(data__a__1__b__in=[1, 2, 90]).count(), 2)
show("json contained", PageLogEntry.objects.filter(data__contained_by={"a": [1, {"b": 3}], "c": None, "d": 1}).count())
show("deleted", PageLogEntry.objects.filter(label="x").delete()[0], 50)
user = get_user_model().objects.create_user("editor", "e@example.org", "Secret123!e")
user.groups.add(Group.objects.get(name="Editors"))
show("users", get_user_model().objects.filter(groups__name="Editors").count(), 1)
