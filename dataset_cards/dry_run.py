"""What a publication would do, without doing it."""

from dataset_cards.hub import Repository, Unreachable, patiently
from dataset_cards.publish import Plan, check_kept, plan, tagged_commit
from dataset_cards.release import Release


def remote_plan(release: Release, repository: Repository) -> tuple[Plan, str]:
    """What a commit would change, and a line on what the Hub said; all files are sent where it was not reached.

    SetupError where the Hub was reached and the publication would be refused.
    """
    name = repository.name
    try:
        state = patiently(f"reading {name}", repository.state_if_any, waits=())
    except Unreachable as error:
        return plan(release, None, name), f"the Hub was not asked: {error}"
    if state is None:
        return plan(release, None, name), f"{name} is not there, or not to be seen; it would be made"
    changes = plan(release, state, name)
    if tagged_commit(release, repository):
        return changes._replace(send={}, delete=[]), f"{name} has {release.tag} with these bytes already"
    check_kept(repository, state, changes.kept, release)
    return changes, f"main of {name} is at commit {state.commit}"
