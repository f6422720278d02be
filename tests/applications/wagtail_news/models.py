"""A site's own pages: articles with an author and tags below an index. Everything else is Wagtail's."""

from django import forms
from django.db import models
from modelcluster.contrib.taggit import ClusterTaggableManager
from modelcluster.fields import ParentalKey, ParentalManyToManyField
from taggit.models import TaggedItemBase
from wagtail.admin.panels import FieldPanel, InlinePanel
from wagtail.fields import RichTextField
from wagtail.models import Orderable, Page
from wagtail.search import index
from wagtail.snippets.models import register_snippet


@register_snippet
class Author(models.Model):
    name = models.CharField(max_length=255)
    panels = [FieldPanel("name")]

    def __str__(self):
        return self.name


class NewsIndex(Page):
    intro = RichTextField(blank=True)
    content_panels = Page.content_panels + [FieldPanel("intro")]

    def get_context(self, request):
        context = super().get_context(request)
        articles = Article.objects.child_of(self).live().order_by("-date", "-pk")
        tag = request.GET.get("tag")
        if tag:
            articles = articles.filter(tags__name=tag)
        context["articles"] = articles.prefetch_related("authors", "tagged_items__tag")[:20]
        return context


class ArticleTag(TaggedItemBase):
    content_object = ParentalKey("Article", related_name="tagged_items", on_delete=models.CASCADE)


class Article(Page):
    date = models.DateField("day of the article")
    intro = models.CharField(max_length=250)
    body = RichTextField(blank=True)
    authors = ParentalManyToManyField("news.Author", blank=True)
    tags = ClusterTaggableManager(through=ArticleTag, blank=True)
    search_fields = Page.search_fields + [index.SearchField("intro"), index.SearchField("body"), index.FilterField("date"),
                                          index.AutocompleteField("intro")]
    content_panels = Page.content_panels + [FieldPanel("date"), FieldPanel("authors", widget=forms.CheckboxSelectMultiple),
                                            FieldPanel("tags"), FieldPanel("intro"), FieldPanel("body"), InlinePanel("links")]


class ArticleLink(Orderable):
    page = ParentalKey(Article, on_delete=models.CASCADE, related_name="links")
    url = models.URLField()
    text = models.CharField(max_length=250, blank=True)
    panels = [FieldPanel("url"), FieldPanel("text")]
