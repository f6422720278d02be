"""MediaWiki: installed with its own script; then articles, moves, deletions, accounts, searches and special pages, through
its API and its pages, and its maintenance scripts."""

import contextlib
import json
import os
import urllib.parse

import web

PACKAGES = ("mediawiki", "php-cli", "php-mysql", "php-xml", "php-mbstring", "php-intl", "php-gd", "php-curl")
SOURCE = "/usr/share/mediawiki"
DATABASE = "encyclopedia"
PASSWORD = "Secret123!admin"
# Everything else is as the installer leaves it.
SETTINGS = """
$wgShowExceptionDetails = true;
$wgMiserMode = false;
$wgGroupPermissions['sysop']['interwiki'] = true;
$wgGroupPermissions['sysop']['deletelogentry'] = true;
$wgGroupPermissions['sysop']['deleterevision'] = true;
$wgGroupPermissions['bot']['noratelimit'] = true;
$wgRateLimits = [];
"""
ARTICLES = 12
QUERIES = (
    *(f"list=search&srwhat=text&srsearch={words}" for words in (
        "searchword5", "anywords", '"text of article"', "anywords -searchword4", "searchw*", "+more +same", "nowhere")),
    "list=search&srsearch=Article", "list=search&srsearch=Main&srwhat=title",
    "list=allpages", "list=allpages&apprefix=Article&apfilterredir=nonredirects&apdir=descending",
    "list=allpages&apminsize=100&aplimit=3", "list=recentchanges&rcprop=title|user|comment|sizes|tags|ids",
    "list=recentchanges&rctype=new&rcnamespace=0", "list=categorymembers&cmtitle=Category:Kind 1&cmsort=timestamp",
    "list=categorymembers&cmtitle=Category:Kind 1&cmlimit=2", "list=backlinks&bltitle=Article 5",
    "list=embeddedin&eititle=Template:Box", "list=exturlusage&euquery=example.org", "list=logevents", "list=logevents&letype=move",
    "list=usercontribs&ucuser=Admin&ucprop=ids|title|comment|size|tags", "list=watchlist", "list=watchlistraw",
    "list=blocks&bkprop=id|user|by|reason", "list=allcategories&acprop=size", "list=allusers&auprop=groups|editcount",
    "list=allusers&augroup=sysop", "list=allrevisions&arvlimit=5", "list=alllinks&alunique=1", "list=allredirects",
    "list=alltransclusions", "list=protectedtitles", "list=deletedrevs&drnamespace=0", "list=alldeletedrevisions",
    "list=tags&tgprop=hitcount", "list=prefixsearch&pssearch=Art", "list=pagepropnames",
    "list=pageswithprop&pwppropname=displaytitle", "list=iwbacklinks&iwblprefix=wikipedia",
    "meta=siteinfo&siprop=general|statistics|interwikimap|namespaces",
    "meta=userinfo&uiprop=groups|rights|editcount|hasmsg", "meta=allmessages&amfilter=main",
    "titles=Article 1&prop=info|revisions|links|categories|extlinks|templates|images|pageprops|contributors&rvlimit=5",
    "titles=Article 1|Article 5&prop=linkshere|transcludedin|redirects|categoryinfo&inprop=watchers",
    "generator=allpages&prop=linkshere|fileusage|transcludedin|redirects", "generator=links&titles=Article 1&prop=info",
    *(f"list=querypage&qppage={name}" for name in (
        "Wantedpages", "Mostlinked", "Lonelypages", "Uncategorizedpages", "Uncategorizedcategories", "Fewestrevisions",
        "Mostrevisions", "Mostcategories", "Mostlinkedcategories", "Mostlinkedtemplates", "Ancientpages", "BrokenRedirects",
        "DoubleRedirects", "Wantedcategories", "Wantedtemplates", "Unwatchedpages", "Unusedcategories", "Unusedtemplates",
        "Shortpages", "Longpages", "Deadendpages", "Listredirects", "Withoutinterwiki")))
PAGES = (
    "Article_1", "Article_1&action=history", "Article_1&diff=prev", "Article_1&action=info", "Article_1&action=edit",
    "Article_1&action=raw", "Article_1&printable=yes", "Talk:Article_0", "Category:Kind_1", "Category:Kind_1&from=Article_4",
    "Template:Box", "Special:RecentChanges", "Special:RecentChanges&limit=500&days=30&hidebots=0",
    "Special:RecentChangesLinked/Article_1", "Special:Watchlist", "Special:EditWatchlist", "Special:AllPages",
    "Special:PrefixIndex/Art", "Special:Categories", "Special:WhatLinksHere/Article_5", "Special:Log", "Special:Log&type=delete",
    "Special:Log/Admin", "Special:Contributions/Admin", "Special:Contributions/Editor", "Special:DeletedContributions/Admin",
    "Special:Statistics", "Special:ListUsers", "Special:ListGroupRights", "Special:BlockList", "Special:NewPages",
    "Special:WantedPages", "Special:WantedTemplates", "Special:WantedFiles", "Special:WantedCategories", "Special:MostLinkedPages",
    "Special:MostLinkedCategories", "Special:MostTranscludedPages", "Special:MostImages", "Special:MostInterwikis",
    "Special:MostCategories", "Special:MostRevisions", "Special:FewestRevisions", "Special:AncientPages", "Special:LonelyPages",
    "Special:DeadendPages", "Special:LongPages", "Special:ShortPages", "Special:ListRedirects", "Special:DoubleRedirects",
    "Special:BrokenRedirects", "Special:UncategorizedPages", "Special:UncategorizedCategories", "Special:UnusedCategories",
    "Special:UnusedTemplates", "Special:UnusedFiles", "Special:ListFiles", "Special:NewFiles", "Special:MIMESearch",
    "Special:ListDuplicatedFiles", "Special:LinkSearch&target=example.org", "Special:Undelete", "Special:Undelete/Article_6",
    "Special:ActiveUsers", "Special:ProtectedPages", "Special:ProtectedTitles", "Special:Export/Article_1", "Special:Version",
    "Special:Tags", "Special:WithoutInterwiki", "Special:Preferences", "Special:BookSources",
    "Special:Search&search=anywords&fulltext=1", "Special:Search&search=searchword7+anywords&fulltext=1",
    "Special:Search&search=prefix:Article&fulltext=1", "Special:Search&search=Article_1",
    "Special:PagesWithProp&propname=displaytitle", "Special:Random",
    "Special:TrackingCategories", "Special:SpecialPages",
    "Special:UserRights/Editor", "Special:MovePage/Article_1", "Special:ComparePages&page1=Article_1&page2=Article_5",
    "Special:Diff/5", "Special:AllMessages", "Special:FileDuplicateSearch", "Special:UnwatchedPages")
SCRIPTS = (
    ("update.php", "--quick"), ("rebuildrecentchanges.php",), ("initSiteStats.php", "--update"), ("refreshLinks.php",),
    ("rebuildtextindex.php",), ("runJobs.php",), ("showSiteStats.php",), ("dumpBackup.php", "--full"), ("updateSpecialPages.php",),
    ("updateCollation.php", "--force"), ("rebuildall.php",), ("cleanupTitles.php",), ("namespaceDupes.php",),
    ("recountCategories.php", "--mode=pages"), ("initEditCount.php",), ("deleteArchivedRevisions.php",),
    ("purgeParserCache.php", "--age=1"), ("checkUsernames.php",), ("updateSearchIndex.php",),
    ("sql.php", "--query=SELECT COUNT(*) FROM page"),
    ("createAndPromote.php", "Helper", PASSWORD), ("changePassword.php", "--user=Helper", f"--password={PASSWORD}2"))


def drive(place):
    """Uses the application at `place` (run.py) and returns the browser that used it."""
    with running(place) as browser:
        write(browser)
        change(browser)
        search(browser)
        for query in QUERIES:
            read(browser, query)
        for page in PAGES:
            browser.get(f"/index.php?title={page}")
        for page in ("Article_1", "Special:RecentChanges", "Special:CreateAccount", "Special:Search&search=anywords&fulltext=1"):
            browser.get(f"/index.php?title={page}", what=f"anonymous {page}")
    for script, *arguments in SCRIPTS:
        code, told = web.php(f"maintenance/{script}", *arguments, folder=site_of(place))
        browser.note(script, code == 0 and not web.FAULT.search(told), told)
    return browser


def site_of(place):
    return os.path.join(place.folder, "site")


@contextlib.contextmanager
def running(place):
    """Sets the application up at `place` and returns the browser of its administrator."""
    site = site_of(place)
    place.copy(SOURCE, site)
    settings = os.path.join(site, "LocalSettings.php")
    if os.path.lexists(settings):
        os.remove(settings)
    for name in ("images", "cache"):
        os.makedirs(os.path.join(site, name), exist_ok=True)
    code, told = web.php(
        "maintenance/install.php", "--dbtype=mysql", f"--dbserver=127.0.0.1:{place.port}", f"--dbname={DATABASE}", "--dbuser=root",
        "--dbpass=", f"--pass={PASSWORD}", "--scriptpath=", "--server=http://127.0.0.1", "--lang=en", "An encyclopedia", "Admin",
        folder=site)
    if code or not os.path.exists(settings):
        raise RuntimeError(f"MediaWiki's installer: {told[-1000:]}")
    with web.served(site, place.log) as address:
        with open(settings, "a") as file:
            file.write(f"$wgServer = '{address}';\n{SETTINGS}")
        browser = web.Browser(address)
        browser.note("installer", not web.FAULT.search(told), told)
        browser.get("/index.php", "Main Page")
        call(browser, "Success", action="login", lgname="Admin", lgpassword=PASSWORD, lgtoken=token(browser, "login"))
        yield browser


def call(browser, want, **fields):
    """Calls the API; the answer has to match `want`."""
    shown = {name: str(value)[:40] for name, value in fields.items() if not name.endswith("token")}
    return browser.post("/api.php", {"format": "json", "formatversion": "2", **fields}, want, f"api {shown}")


def token(browser, kind="csrf"):
    browser.get(f"/api.php?action=query&meta=tokens&type={kind}&format=json", "token", what=f"token {kind}")
    return json.loads(browser.text)["query"]["tokens"][f"{kind}token"]


def read(browser, query):
    path = "/api.php?action=query&format=json&formatversion=2&" + urllib.parse.quote(query, "=&|%")
    browser.get(path, what=f"api {query}")
    told = json.loads(browser.text) if browser.text.startswith("{") else {"error": browser.text[:300]}
    browser.note(f"answer {query}", "error" not in told, str(told.get("error")))
    return told


def search(browser):
    """Searches find what they should: the differences of answers alone would not show that both servers find nothing."""
    for words, hits in (("searchword5", 1), ("anywords", ARTICLES - 1), ("searchw*", ARTICLES - 1), ("nowhere", 0)):
        found = read(browser, f"list=search&srwhat=text&srsearch={words}")
        browser.note(f"hits of {words}", found["query"]["searchinfo"]["totalhits"] == hits, str(found)[:300])


def text_of(number, count):
    return (f"== Head ==\n{{{{Box|{number}}}}} Text of article {number} with [[Article {(number + 1) % count}]] and"
            f" [[Missing {number}]], searchword{number} anywords \u00fc\U0001f600.\n=== Second ===\n"
            + f"More of the same {number}. " * (5 + number)
            + f"[https://example.org/{number} a link] [[wikipedia:Database]] {{{{DISPLAYTITLE:Article {number}}}}}\n"
              f"[[Category:Kind {number % 3}]] [[Category:All]]")


def edit(browser, title, text, key, **fields):
    call(browser, "Success", action="edit", title=title, text=text, token=key, **fields)


def write(browser):
    key = token(browser)
    edit(browser, "Template:Box", "'''{{{1}}}''' of {{PAGENAME}} <noinclude>a box</noinclude>", key)
    for number in range(ARTICLES):
        edit(browser, f"Article {number}", text_of(number, ARTICLES), key, summary=f"made {number}")
    for number in range(0, ARTICLES, 3):
        edit(browser, f"Article {number}", text_of(number, ARTICLES) + "\nAnd a change.", key, minor="1", watchlist="watch")
        edit(browser, f"Talk:Article {number}", f"A word about {number}. ~~~~", key)
    call(browser, "Success", action="edit", title="Article 1", section="1", appendtext="\nmore", token=key)
    call(browser, "Success", action="edit", title="Article 1", section="new", sectiontitle="Added", text="by hand", token=key)
    last = read(browser, "titles=Article 1&prop=revisions")["query"]["pages"][0]["revisions"][0]["revid"]
    call(browser, "Success", action="edit", title="Article 1", undo=last, token=key)
    edit(browser, "Category:Kind 1", "A kind. [[Category:All]]", key)
    edit(browser, "A redirect", "#REDIRECT [[Article 5]]", key)
    edit(browser, "Twice", "#REDIRECT [[A redirect]]", key)
    call(browser, "articleexists", action="edit", title="Article 1", text="x", createonly="1", token=key)
    # The form of the editor.
    browser.get("/index.php?title=By_hand&action=edit", "wpTextbox1")
    form = browser.form("wpTextbox1")
    browser.post("/index.php?title=By_hand&action=submit", {**form, "wpTextbox1": "Written in a form.", "wpSummary": "form",
                                                            "wpSave": "Save page"}, "Written in a form", "editor")


def change(browser):
    key = token(browser)
    call(browser, '"to":"Moved article"', **{"from": "Article 2"}, action="move", to="Moved article", movetalk="1",
         reason="a better name", token=key)
    call(browser, '"to":"Article 2"', **{"from": "Moved article"}, action="move", to="Article 2", token=key)
    for title in ("Article 3", "Article 6", "Talk:Article 9"):
        call(browser, f'"title":"{title}"', action="delete", title=title, reason="gone", token=key)
    call(browser, '"revisions":2', action="undelete", title="Article 3", token=key)
    call(browser, '"edit":"sysop"', action="protect", title="Article 4", protections="edit=sysop|move=sysop", expiry="2040-01-01",
         token=key)
    call(browser, '"create":"sysop"', action="protect", title="Never here", protections="create=sysop", token=key)
    call(browser, "10.1.2.3", action="block", user="10.1.2.3", expiry="2040-01-01", reason="x", token=key)
    call(browser, "10.1.0.0/16", action="block", user="10.1.0.0/16", expiry="infinite", nocreate="1", token=key)
    call(browser, "10.1.2.3", action="unblock", user="10.1.2.3", token=key)
    call(browser, "Article 5", action="watch", titles="Article 5|Article 7", token=token(browser, "watch"))
    call(browser, "Article 7", action="watch", titles="Article 7", unwatch="1", token=token(browser, "watch"))
    call(browser, "PASS", action="createaccount", createreturnurl="http://127.0.0.1/", username="Editor",
         password=PASSWORD, retype=PASSWORD, email="e@example.org", createtoken=token(browser, "createaccount"))
    call(browser, "bureaucrat", action="userrights", user="Editor", add="bureaucrat|bot", token=token(browser, "userrights"))
    call(browser, "success", action="options", change="skin=vector|rclimit=100", token=key)
    call(browser, "Article 1", action="purge", titles="Article 1|Article 5", forcelinkupdate="1")
    history = read(browser, "titles=Article 9&prop=revisions&rvlimit=2")["query"]["pages"][0]["revisions"]
    call(browser, "Success", action="revisiondelete", type="revision", target="Article 9", ids=history[1]["revid"],
         hide="comment|user", token=key)
    call(browser, '"operation":"create"', action="managetags", operation="create", tag="checked", token=key)
    call(browser, "checked", action="tag", revid=history[0]["revid"], add="checked", token=key)
    call(browser, "Article 8", action="setnotificationtimestamp", titles="Article 8", token=key)
    call(browser, "parse", action="parse", page="Article 1", prop="text|links|categories")
    call(browser, "compare", action="compare", fromtitle="Article 1", totitle="Article 5")
    call(browser, "mergehistory", **{"from": "By hand"}, action="mergehistory", to="Article 10", token=key)


def pages(browser, place):
    """Fills the application, and returns its kinds of pages for record.py: a browser and paths for each."""
    key = token(browser)
    edit(browser, "Template:Box", "'''{{{1}}}''' of {{PAGENAME}} <noinclude>a box</noinclude>", key)
    for number in range(8):
        call(browser, "PASS", action="createaccount", createreturnurl="http://127.0.0.1/", username=f"Editor {number}",
             password=PASSWORD, retype=PASSWORD, createtoken=token(browser, "createaccount"))
    for number in range(60):
        edit(browser, f"Article {number}", text_of(number, 60), key, summary=f"made {number}",
             watchlist="nochange" if number % 4 else "watch")
    for turn in range(3):
        for number in range(0, 60, 2 + turn):
            edit(browser, f"Article {number}", text_of(number, 60) + f"\nChange {turn}.", key, summary=f"change {turn}")
    for number in range(0, 60, 5):
        edit(browser, f"Talk:Article {number}", f"A word about {number}. ~~~~", key)
    # Otherwise views would run the jobs that the edits left.
    web.php("maintenance/runJobs.php", folder=site_of(place))
    visitor, some = web.Browser(browser.base), [f"Article_{number}" for number in range(3, 50, 6)]

    def titles(*names):
        return [f"/index.php?title={name}" for name in names]

    return {
        "article": (visitor, titles(*some)),
        "article-logged-in": (browser, titles(*some)),
        "history": (visitor, titles(*(f"{name}&action=history" for name in some))),
        "diff": (visitor, titles(*(f"Article_{number}&diff=prev" for number in (6, 12, 18, 24)))),
        "edit": (browser, titles(*(f"{name}&action=edit" for name in some[:4]))),
        "category": (visitor, titles(*(f"Category:Kind_{number}" for number in range(3)))),
        "recent": (visitor, titles("Special:RecentChanges", "Special:RecentChanges&limit=250&days=30")),
        "watchlist": (browser, titles("Special:Watchlist")),
        "search": (visitor, titles(*(f"Special:Search&search={words}&fulltext=1"
                                     for words in ("anywords", "searchword7", "article+searchword9", "nothingofit")))),
        "contributions": (visitor, titles("Special:Contributions/Admin", "Special:Contributions/Admin&limit=250")),
        "links": (visitor, titles(*(f"Special:WhatLinksHere/{name}" for name in some[:4]))),
        "all": (visitor, titles("Special:AllPages", "Special:PrefixIndex/Article_1")),
        "api": (visitor, ["/api.php?action=query&format=json&generator=allpages&gaplimit=20&prop=info|categories|links",
                          "/api.php?action=query&format=json&list=recentchanges&rclimit=50&rcprop=title|user|comment|sizes"]),
    }
