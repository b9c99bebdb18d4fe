"""Events like those of GitHub: deep, a payload of its own for each type, many optional keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from trellis.generate.words import NAMES, moment

Record = dict[str, Any]
GITHUB = "https://api.github.com"


def github(rows: int, random: Random, _columns: int) -> Iterator[bytes]:
    from orjson import dumps

    names = tuple(PAYLOADS)
    weights = [weight for weight, _ in PAYLOADS.values()]
    for i in range(rows):
        kind = random.choices(names, weights)[0]
        owner, project = int(random.random() * 300), int(random.random() * 900)
        record: Record = {
            "id": str(28_000_000_000 + i * 17),
            "type": kind,
            "actor": account(int(random.random() * 20_000), short=True),
            "repo": {
                "id": 1_000_000 + project,
                "name": f"org{owner}/project-{project}",
                "url": f"{GITHUB}/repos/org{owner}/project-{project}",
            },
            "payload": PAYLOADS[kind][1](random, i, f"org{owner}/project-{project}"),
            "public": True,
            "created_at": moment(i * 366 // rows, i),
        }
        if random.random() < 0.6:
            record["org"] = account(owner, short=True)
        yield dumps(record)


def account(number: int, short: bool = False) -> Record:
    login = f"user-{number}"
    url = f"{GITHUB}/users/{login}"
    record: Record = {"id": number, "login": login, "gravatar_id": "", "url": url}
    if short:
        return record | {"display_login": login}
    return record | {
        "node_id": f"MDQ6VXNlcg{number:06d}",
        "html_url": f"https://github.com/{login}",
        "followers_url": f"{url}/followers",
        "gists_url": f"{url}/gists{{/gist_id}}",
        "type": "Bot" if number % 50 == 0 else "User",
        "site_admin": False,
    }


def repository(random: Random, name: str) -> Record:
    record: Record = {
        "id": int(random.random() * 10**9),
        "name": name.partition("/")[2],
        "full_name": name,
        "private": False,
        "owner": account(int(random.random() * 300)),
        "description": random.choice(("A tool", "数据库", "⚡ fast", None)),
        "fork": random.random() < 0.3,
        "stargazers_count": int(random.random() * 30_000),
        "language": random.choice(("Python", "Scala", "C++", None)),
        "topics": random.choice(([], ["spark"], ["spark", "schema", "json"])),
        "default_branch": "main",
    }
    if random.random() < 0.7:
        record["license"] = {
            "key": "mit",
            "name": "MIT License",
            "spdx_id": "MIT",
            "url": f"{GITHUB}/licenses/mit",
        }
    return record


def issue(random: Random, i: int, name: str) -> Record:
    closed = random.random() < 0.4
    record: Record = {
        "url": f"{GITHUB}/repos/{name}/issues/{i}",
        "id": 1_600_000_000 + i,
        "number": i % 9_000,
        "title": random.choice(
            ("It fails with ümlauts", "Add a flag", "date_sub() is off by one", "💥 on start")
        ),
        "user": account(int(random.random() * 20_000)),
        "labels": [
            {"id": 70 + n, "name": label, "color": "d73a4a", "default": n == 0, "description": None}
            for n, label in enumerate(("bug", "good first issue", "ui")[: int(random.random() * 4)])
        ],
        "state": "closed" if closed else "open",
        "locked": False,
        "assignee": account(int(random.random() * 99)) if random.random() < 0.3 else None,
        "assignees": [account(int(random.random() * 99)) for _ in range(int(random.random() * 3))],
        "comments": int(random.random() * 40),
        "created_at": moment(i % 366, i),
        "closed_at": moment(i % 366, i + 9) if closed else None,
        "body": "### What happens?\n\nIt stops.\n\n```sql\nSELECT 1;\n```" if random.random() < 0.8 else None,
        "reactions": {"total_count": i % 3, "+1": i % 2, "-1": 0, "laugh": 0},
    }
    if random.random() < 0.25:
        record["milestone"] = {"number": i % 5, "title": "1.0", "due_on": None, "creator": account(i % 300)}
    if closed:
        record["state_reason"] = random.choice(("completed", "not_planned"))
    return record


def pull_request(random: Random, i: int, name: str) -> Record:
    record = issue(random, i, name)
    del record["reactions"], record["comments"]
    for side in ("head", "base"):
        record[side] = {
            "label": f"{name.partition('/')[0]}:main",
            "ref": "main" if side == "base" else f"fix-{i}",
            "sha": sha(random),
            "user": account(int(random.random() * 20_000)),
            "repo": repository(random, name) if side == "base" or random.random() < 0.9 else None,
        }
    merged = random.random() < 0.3
    record |= {
        "draft": random.random() < 0.1,
        "merged_at": moment(i % 366, i) if merged else None,
        "merge_commit_sha": sha(random) if merged else None,
        "requested_reviewers": [account(int(random.random() * 99)) for _ in range(int(random.random() * 3))],
        "_links": {"self": {"href": record["url"]}, "html": {"href": f"https://github.com/{name}/pull/{i}"}},
    }
    if random.random() < 0.5:
        record |= {"additions": i % 700, "deletions": i % 300, "changed_files": i % 20, "mergeable": None}
    return record


def comment(random: Random, i: int, name: str) -> Record:
    return {
        "id": 1_500_000_000 + i,
        "url": f"{GITHUB}/repos/{name}/comments/{i}",
        "user": account(int(random.random() * 20_000)),
        "created_at": moment(i % 366, i),
        "author_association": random.choice(("NONE", "MEMBER", "CONTRIBUTOR")),
        "body": random.choice(("Thank you!", "LGTM 🚀", "Could you rebase?\r\n", "")),
        "performed_via_github_app": {"id": 15368, "slug": "actions"} if random.random() < 0.05 else None,
    }


def sha(random: Random) -> str:
    return f"{random.getrandbits(160):040x}"


def push(random: Random, i: int, name: str) -> Record:
    commits = [
        {
            "sha": sha(random),
            "author": {"email": f"dev{n}@example.com", "name": NAMES[(i + n) % 14]},
            "message": f"Fix #{i}\n\nCo-authored-by: {NAMES[n % 14]}",
            "distinct": n == 0,
            "url": f"{GITHUB}/repos/{name}/commits/{n}",
        }
        for n in range(int(random.random() * 5))
    ]
    record: Record = {
        "push_id": 13_000_000_000 + i,
        "size": len(commits),
        "distinct_size": min(1, len(commits)),
    }
    return record | {"ref": "refs/heads/main", "head": sha(random), "before": sha(random), "commits": commits}


def release(random: Random, i: int, name: str) -> Record:
    assets = [
        {
            "name": f"build-{n}.zip",
            "size": int(random.random() * 2**33),
            "uploader": account(n),
            "label": None,
        }
        for n in range(int(random.random() * 4))
    ]
    record: Record = {
        "tag_name": f"v{i % 9}.{i % 17}",
        "name": "",
        "author": account(i % 300),
        "assets": assets,
    }
    return {"action": "published", "release": record | {"prerelease": i % 5 == 0, "body": None}}


PAYLOADS: dict[str, tuple[int, Callable[[Random, int, str], Record]]] = {
    "PushEvent": (40, push),
    "WatchEvent": (12, lambda random, i, name: {"action": "started"}),
    "CreateEvent": (
        10,
        lambda random, i, name: {
            "ref": random.choice((None, "main", "v1")),
            "ref_type": random.choice(("branch", "tag", "repository")),
            "master_branch": "main",
            "description": None,
        },
    ),
    "PullRequestEvent": (
        10,
        lambda random, i, name: {
            "action": random.choice(("opened", "closed")),
            "number": i % 9_000,
            "pull_request": pull_request(random, i, name),
        },
    ),
    "IssueCommentEvent": (
        10,
        lambda random, i, name: {
            "action": "created",
            "issue": issue(random, i, name),
            "comment": comment(random, i, name),
        },
    ),
    "IssuesEvent": (6, lambda random, i, name: {"action": "opened", "issue": issue(random, i, name)}),
    "PullRequestReviewEvent": (
        5,
        lambda random, i, name: {
            "action": "created",
            "review": comment(random, i, name) | {"state": "approved", "commit_id": sha(random)},
            "pull_request": pull_request(random, i, name),
        },
    ),
    "ForkEvent": (4, lambda random, i, name: {"forkee": repository(random, name) | {"public": True}}),
    "ReleaseEvent": (2, release),
    "PublicEvent": (1, lambda random, i, name: {}),
}
