"""A preview of a publication."""

from dataset_cards.hub import Repository, Unreachable, patiently
from dataset_cards.publish import Plan, check_kept, plan, tagged_commit
from dataset_cards.release import Release


def remote_plan(release: Release, repository: Repository) -> tuple[Plan, str]:
    """The changes of a commit, and a line on the state of the Hub; all files are sent if the Hub was not reached.

    SetupError if the Hub was reached and the publication would be refused.
    """
    name = repository.name
    try:
        state = patiently(f"reading {name}", repository.state_if_any, waits=())
    except Unreachable as error:
        return plan(release, None, name), f"the Hub was not reached: {error}"
    if state is None:
        return plan(release, None, name), f"{name} does not exist or is not visible; it would be created"
    changes = plan(release, state, name)
    if tagged_commit(release, repository):
        return changes._replace(send={}, delete=[]), f"{name} already has {release.tag} with these bytes"
    check_kept(repository, state, changes.kept, release)
    return changes, f"main of {name} is at commit {state.commit}"
