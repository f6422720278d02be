"""Runs inside the project of wiki.py: its tree and its queries. Each check prints a line that begins with ok."""

from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import Count, Exists, F, Max, OuterRef, Q, Subquery, Window
from django.db.models.functions import Coalesce, Length, Rank, RowNumber, TruncMonth, Upper
from wiki.models import Article, ArticleRevision, URLPath


def show(what, value, wanted=None):
    if wanted is not None and value != wanted:
        raise AssertionError(f"{what}: {value} instead of {wanted}")
    print("ok", what, value)


root = URLPath.root()
user = get_user_model().objects.get(username="admin")
made = [URLPath.create_urlpath(root, f"made-{number}", title=f"Made {number}", content=f"Content {number}", user=user)
        for number in range(8)]
show("children", root.get_children().count())
show("descendants", root.get_descendants().count())
show("level", list(URLPath.objects.values("level").annotate(n=Count("id")).order_by("level")))
made[7].move_to(made[0], position="last-child")
made[7].refresh_from_db()
show("moved", made[7].level, 2)
show("path", made[7].path, "made-0/made-7/")
show("ancestors", [path.slug for path in made[7].get_ancestors()])
show("tree", [(path.lft, path.rght) for path in URLPath.objects.order_by("lft")])
URLPath.objects.rebuild()
show("rebuilt", [(path.lft, path.rght) for path in URLPath.objects.order_by("lft")][:3])
for number in range(3):
    made[1].article.add_revision(ArticleRevision(title="Made 1", content=f"Content of revision {number}"))
show("revisions", made[1].article.articlerevision_set.count(), 4)
show("number", made[1].article.current_revision.revision_number, 4)
show("older", Article.objects.filter(articlerevision__content__icontains="REVISION 1").distinct().count(), 1)
show("can read", Article.objects.can_read(user).count())
show("active", Article.objects.active().count())
show("most", list(Article.objects.annotate(n=Count("articlerevision"), m=Max("articlerevision__revision_number"))
                  .order_by("-n", "pk").values_list("n", "m")[:5]))
revisions = ArticleRevision.objects.filter(article=OuterRef("pk"))
show("last of each", list(Article.objects.annotate(last=Subquery(revisions.order_by("-revision_number").values("revision_number")[:1]))
                          .order_by("pk").values_list("last", flat=True)))
show("window", list(ArticleRevision.objects.annotate(r=Window(RowNumber(), partition_by=F("article"), order_by=F("created").asc()))
                    .order_by("pk").values_list("r", flat=True)))
show("rank", list(ArticleRevision.objects.annotate(r=Window(Rank(), order_by=Length("content").desc())).order_by("r", "pk")
                  .values_list("r", flat=True)[:5]))
show("exists", Article.objects.filter(Exists(revisions.filter(revision_number__gt=1))).count())
show("months", ArticleRevision.objects.annotate(m=TruncMonth("created")).values("m").annotate(n=Count("id")).count(), 1)
show("or", ArticleRevision.objects.filter(Q(title__startswith="Made") | Q(content__regex=r"\bwords\b"),
                                          ~Q(title__endswith="3")).count())
show("upper", list(ArticleRevision.objects.annotate(t=Upper("title")).order_by("t", "pk").values_list("t", flat=True)[:3]))
show("coalesce", ArticleRevision.objects.annotate(d=Coalesce("previous_revision_id", 0)).filter(d=0).count())
show("intersection", len(set(ArticleRevision.objects.filter(pk__lt=6).values_list("pk", flat=True)
                             .intersection(ArticleRevision.objects.filter(pk__gt=2).values_list("pk", flat=True)))))
show("difference", len(ArticleRevision.objects.filter(pk__lt=6).values_list("pk").difference(
    ArticleRevision.objects.filter(pk__gt=2).values_list("pk"))))
with transaction.atomic():
    show("for update", len(URLPath.objects.select_for_update().filter(level=1)) > 0, True)
try:
    with transaction.atomic():
        made[2].delete_subtree()
        raise ValueError
except ValueError:
    show("rolled back", URLPath.objects.filter(slug="made-2").count(), 1)
made[0].delete_subtree()
show("deleted", URLPath.objects.filter(slug__startswith="made").count(), 6)
