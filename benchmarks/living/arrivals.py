"""New pods: Deployments that roll, bursts of Jobs, Deployments that are scaled."""

from random import Random

from benchmarks.living.documents import replica_set
from benchmarks.living.model import JOB, MEMBER, SCALED, LivePod, Owner, World
from benchmarks.living.options import LifeOptions
from benchmarks.living.pod_lives import PodLives
from benchmarks.living.templates import Template
from benchmarks.living.timers import Poisson, Timers

# how long the ReplicaSet of an earlier rollout stays
OLD_SECONDS = 10.0


class Deployment:
    """The pods of a template, and the ReplicaSet that new ones belong to."""

    def __init__(self, template: Template, owner: Owner) -> None:
        self.template = template
        self.owner = owner
        # pods that are ready, by full name
        self.pods: dict[str, LivePod] = {}


class Arrivals:
    """Creates pods at a rate."""

    def __init__(self, options: LifeOptions, world: World, timers: Timers, lives: PodLives) -> None:
        self._options = options
        self._world = world
        self._timers = timers
        self._lives = lives
        self._chance = Random(f"{options.seed} arrivals")
        self._numbers = 0
        self.templates = [Template(number) for number in range(options.templates)]
        self.deployments = [Deployment(template, self._replica_set(template)) for template in self.templates]
        # the rollout that is under way: its Deployment, and the pods that are to be replaced
        self._rolling: Deployment | None = None
        self._old: list[LivePod] = []
        self._rolls = Poisson(timers, f"{options.seed} rolls", self._roll)
        self._scales = Poisson(timers, f"{options.seed} scales", self._scale)
        self._bursts = Poisson(timers, f"{options.seed} bursts", self._start_jobs)
        # pods created so far
        self.created = 0
        lives.on_ready = self._ready
        lives.on_ending = self._ending

    def set_rate(self, rate: float) -> None:
        """Create so many pods a second from now on."""
        options = self._options
        rolling = options.rolling if options.running else 0.0
        self._rolls.set_rate(rate * rolling)
        self._bursts.set_rate(rate * options.jobs / options.burst)
        self._scales.set_rate(rate * max(0.0, 1.0 - rolling - options.jobs))

    def new_owner(self, kind: str, name: str, template: Template, template_hash: str = "") -> Owner:
        """Return an owner with a UID of its own."""
        self._numbers += 1
        return Owner(kind, name, template, self._numbers, template_hash)

    def replace(self, pod: LivePod) -> None:
        """Create a pod in place of one that ends, unless a rollout has done so or no Deployment wants it."""
        if pod.reason == MEMBER and not pod.replaced:
            self._create(self.deployments[pod.owner.template.number].owner, MEMBER, pod.replaces)

    def objects_path(self, template: Template) -> str:
        """Return where ReplicaSets of a template are created."""
        return f"/apis/apps/v1/namespaces/{template.namespace}/replicasets"

    def _replica_set(self, template: Template) -> Owner:
        template_hash = f"{self._chance.getrandbits(40):010x}"
        return self.new_owner("ReplicaSet", f"{template.app}-{template_hash}", template, template_hash)

    def _create(self, owner: Owner, reason: str, replaces: LivePod | None = None) -> None:
        self.created += 1
        self._lives.create(owner, reason, replaces=replaces)

    # -- rollouts

    def _roll(self) -> None:
        """Create the next pod of the rollout that is under way, or begin another rollout."""
        if not self._old:
            self._begin_rollout()
        while self._old:
            old = self._old.pop()
            if self._rolling is not None and not old.ending and not old.replaced:
                old.replaced = True
                self._create(self._rolling.owner, MEMBER, old)
                return

    def _begin_rollout(self) -> None:
        for _ in range(len(self.deployments)):
            deployment = self._chance.choice(self.deployments)
            if any(not pod.replaced for pod in deployment.pods.values()):
                break
        else:
            return
        old = deployment.owner
        deployment.owner = self._replica_set(deployment.template)
        path = self.objects_path(deployment.template)
        self._world.create_object(path, replica_set(deployment.owner))
        self._timers.after(OLD_SECONDS, self._world.delete_object, path, old.name)
        self._rolling, self._old = deployment, list(deployment.pods.values())

    def _ready(self, pod: LivePod) -> None:
        if pod.reason == MEMBER:
            self.deployments[pod.owner.template.number].pods[pod.full_name] = pod

    def _ending(self, pod: LivePod) -> None:
        if pod.reason == MEMBER:
            self.deployments[pod.owner.template.number].pods.pop(pod.full_name, None)

    # -- Jobs and scaling

    def _start_jobs(self) -> None:
        """Start Jobs of a CronJob, each with a few pods, until a burst is full."""
        left = self._options.burst
        while left:
            template = self._chance.choice(self.templates)
            job = self.new_owner("Job", f"job-{self._numbers + 1}", template)
            pods = min(left, self._chance.randint(1, 10))
            left -= pods
            for _ in range(pods):
                self._create(job, JOB)

    def _scale(self) -> None:
        self._create(self._chance.choice(self.deployments).owner, SCALED)
