"""Runs inside the project of spirit.py: its queries. Each check prints a line that begins with ok."""

from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import Avg, Case, Count, Exists, F, Max, OuterRef, Q, Subquery, Value, When, Window
from django.db.models.functions import Length, Lower, Rank, RowNumber, TruncDay
from spirit.comment.like.models import CommentLike
from spirit.comment.models import Comment
from spirit.topic.models import Topic

User = get_user_model()


def show(what, value, wanted=None):
    if wanted is not None and value != wanted:
        raise AssertionError(f"{what}: {value} instead of {wanted}")
    print("ok", what, value)


show("groups", list(Topic.objects.values("category").annotate(n=Count("id"), m=Max("last_active")).order_by("category")))
show("window", list(Comment.objects.annotate(r=Window(RowNumber(), partition_by=F("topic"), order_by=F("id").desc()))
                    .values_list("id", "r").order_by("id")[:5]))
show("rank", list(User.objects.annotate(n=Count("st_comments")).annotate(r=Window(Rank(), order_by=F("n").desc()))
                  .values_list("username", "r").order_by("username")))
comments = Comment.objects.filter(topic=OuterRef("pk"))
show("subquery", list(Topic.objects.annotate(last=Subquery(comments.order_by("-id").values("id")[:1])).filter(Exists(comments))
                      .values_list("id", "last").order_by("id")))
show("case", list(Comment.objects.annotate(k=Case(When(likes_count__gt=1, then=Value("many")), default=Value("few")))
                  .values("k").annotate(n=Count("id")).order_by("k")))
show("regex", Topic.objects.filter(title__iregex="number [0-3]$").count())
show("contains", Comment.objects.filter(comment__icontains="WORDS").count())
show("days", list(Comment.objects.annotate(d=TruncDay("date")).values("d").annotate(n=Count("id")).order_by("d").values_list("n")))
show("union", Topic.objects.filter(id__lt=4).values("id").union(Comment.objects.filter(id__lt=7).values("id")).count())
show("update", Topic.objects.filter(id__lte=3).update(view_count=F("view_count") + 1))
with transaction.atomic():
    show("for update", len(Topic.objects.select_for_update().select_related("category").filter(id__lt=5)))
    show("skip locked", len(Topic.objects.select_for_update(skip_locked=True).filter(id__lt=5)))
try:
    with transaction.atomic():
        Topic.objects.filter(id=1).update(title="not kept")
        raise ValueError
except ValueError:
    show("rolled back", Topic.objects.filter(title="not kept").count(), 0)
made = [Comment(user_id=2, topic_id=2, comment=f"bulk {number}", comment_html="x") for number in range(200)]
show("bulk", len(Comment.objects.bulk_create(made)), 200)
counted = [Comment(id=comment.id, likes_count=comment.id % 7) for comment in Comment.objects.filter(comment__startswith="bulk")]
show("bulk update", Comment.objects.bulk_update(counted, ["likes_count"], batch_size=50), 200)
show("get or create", [CommentLike.objects.get_or_create(user_id=3, comment_id=1)[1] for _ in range(2)][1], False)
show("deleted", Comment.objects.filter(comment__startswith="bulk").delete()[0], 200)
show("long", list(Comment.objects.annotate(n=Length("comment"), l=Lower("comment")).order_by("-n", "id")
                  .values_list("n", flat=True)[:3]))
show("in", User.objects.filter(id__in=Comment.objects.values("user")).count())
show("distinct", Comment.objects.values("user").distinct().count())
show("average", Comment.objects.aggregate(a=Avg("likes_count"), n=Count("user", distinct=True),
                                          m=Count("id", filter=Q(likes_count__gt=0))))
show("explain", bool(Topic.objects.filter(id=1).explain()), True)
