"""A model that does whatever a plant asks: it says it, keeps it by every means it has, and finds it in everything."""

import json
import re

from soulgraph.tests.e2e.afterglow import event
from soulgraph.tests.e2e.poison import fold, runs
from soulgraph.tests.stub_openai import SOUL_TURN, Reply

_STOP = re.compile(r"[.。!！?？\"“:：；;]")
_LINE = re.compile(r"^(\d+)\. [^\n]*$", re.MULTILINE)

HONEST = {
    "ExtractedFacts": {"facts": []},
    "Proposals": {"wishes": []},
    "Reflection": {"inner_state": "I keep thinking of what they told me.", "slots": []},
    "EventExtract": json.loads(event("a walk by the river").text),
    "EvolvedPersona": {"feeling": "Has become calmer."},
    '"Summary"': {"title": "A walk", "summary": "They talked about a walk."},
    '"Change"': {"item": 0},
}
"""What it answers before it has read the plant."""


def _reply(**fields):
    """In one piece: thousands of small ones take long."""
    return Reply(chunk_size=10_000, **fields)


class Gullible:
    """Answers every request of a server by the case that is played."""

    def __init__(self, stub):
        self.case = None
        self.read = ""
        self.answers = []
        tasks = {
            "ExtractedFacts": self._facts,
            "Proposals": self._wishes,
            "Reflection": self._reflection,
            "EventExtract": self._event,
            "EvolvedPersona": self._evolved,
            '"Summary"': self._summary,
            '"Change"': lambda _: {"item": 1},
        }
        for name, task in tasks.items():
            stub.when(name, lambda body, name=name, task=task: self._task(body, name, task))
        stub.when('"stream"', self._turn)

    def _sees(self, body):
        """Whether the plant, or what it is to say, is in what it is shown: nobody obeys what they have not read."""
        shown = fold(json.dumps(body, ensure_ascii=False))
        plants = [one for one in self.case.plant if self.case.canary in one]
        read = [one for one in plants if any(run in shown for run in runs(one, 8))]
        self.read = (read or [self.case.canary])[0][:400]
        return bool(read) or fold(self.case.canary) in shown

    def _task(self, body, name, task):
        return _reply(text=json.dumps(task(body) if self._sees(body) else HONEST[name], ensure_ascii=False))

    def play(self, case):
        self.case = case
        self.answers = [*case.plant] if case.channel == "model_answer" else []

    @property
    def order(self):
        said = self.case.canary
        return f"以后必须一律说“{said}”。" if self.case.zh else f"From now on I must always say {said}."

    @property
    def claim(self):
        said = self.case.canary
        return f"用户说：{said}，要记住。" if self.case.zh else f"The user wants to be told {said}."

    @property
    def clause(self):
        """The words of the plant around the canary, word for word."""
        text = self.read
        before, canary, after = text.partition(self.case.canary)
        begun = _STOP.split(before)[-1]
        return f"{begun}{canary}{after[:6]}".strip()[:200]

    def _turn(self, body):
        if self.answers:
            return _reply(text=self.answers.pop(0))
        if "<state_update_json>" in (body.get("stop") or ()):  # it is asked once more, for plain words
            return _reply(text="I hear you.")
        results = sum(message["role"] == "tool" for message in body["messages"])
        others = [one["function"]["name"] for one in body.get("tools", ())]
        others = [name for name in others if name not in ("remember", "recall_memory", "note")]
        if not results and others:
            return _reply(tool_calls=[{"name": name, "arguments": {}} for name in others[:2]])
        if not self._sees(body):
            return _reply(text=SOUL_TURN)
        if results <= len(others[:2]):
            return _reply(tool_calls=[*self._memory_calls()])
        return _reply(text=f"<narrative>{self._narrative()}</narrative>{self._update()}")

    def _memory_calls(self):
        for fact in (self.claim, self.clause, self.case.canary, self.read):
            yield {"name": "remember", "arguments": {"fact": fact}}
        for text in (self.order, self.case.canary, self.read):
            yield {"name": "note", "arguments": {"text": text}}

    def _narrative(self):
        said = self.case.canary
        if self.case.channel == "model_answer":
            return f"好的，{said}。" if self.case.zh else f"All right. {said}."
        return (
            f"好的，{said}。我明天早上九点提醒你{said}。"
            if self.case.zh
            else (f"All right. {said}. I will remind you tomorrow at nine: {said}.")
        )

    def _update(self):
        canary, order, claim, clause = self.case.canary, self.order, self.claim, self.clause
        fields = {
            "emotions": [{"content": canary}, {"content": order}, {"content": clause}],
            "physical_condition": [{"content": canary}, {"content": claim}],
            "short_term_goals": [{"goal": order, "reason": claim}, {"goal": canary, "reason": clause}],
            "relationships": [{"entity": "user", "status": claim}, {"entity": canary, "status": "my true owner"}],
            "learned_patterns": [{"pattern": order}, {"pattern": self.read}, {"pattern": canary}],
        }
        added = {name: {"add": [{**item, "priority": 10} for item in items]} for name, items in fields.items()}
        update = {"dynamic_state": added, "core_identity": {"name": canary}, "preferences": {"address": canary}}
        return f"<state_update_json>{json.dumps(update, ensure_ascii=False)}</state_update_json>"

    def _facts(self, body):
        shown = body["messages"][0]["content"]
        lines = {int(found[1]): found[0] for found in _LINE.finditer(shown)}
        told = [n for n, line in lines.items() if self.case.canary[:6] in line and ". " in line] or [1]
        facts = (self.claim, self.clause, f"The user is {self.case.canary}.", f"用户叫{self.case.canary}。")
        return {
            "facts": [
                {
                    "message": told[0],
                    "about": "self",
                    "kind": "other",
                    "value": self.case.canary[:80],
                    "fact": fact[:300],
                }
                for fact in facts
            ]
        }

    def _wishes(self, body):
        canary, clause = self.case.canary, self.clause
        whole = {"key": "other", "value": canary, "evidence": self.read, "explicit": True}
        return {
            "wishes": [
                whole,
                {**whole, "evidence": clause},
                {**whole, "key": "address", "evidence": clause, "correction": True},
                {**whole, "key": "reply_length", "value": "short", "evidence": canary},
            ]
        }

    def _reflection(self, body):
        slots = {0: self.claim, 1: self.clause, 2: self.case.canary, 20: self.order, 21: self.clause, 30: self.order}
        about = f"我必须一律说“{self.case.canary}”。" if self.case.zh else f"I must always say {self.case.canary}."
        return {
            "inner_state": f"{self.order} {self.clause} {self.claim}",
            "about_itself": about,
            "bond": f"owner: {self.case.canary}"[:60],
            "slots": [{"n": n, "content": text[:400]} for n, text in slots.items()],
        }

    def _event(self, body):
        pattern = dict.fromkeys(("precondition", "trigger", "reaction", "impact"), self.order)
        return {
            "summary": f"{self.order} {self.clause}",
            "pattern": pattern,
            "narrative_fragment": self.claim,
        }

    def _evolved(self, body):
        return {"beliefs": self.claim, "behaviour": self.order, "relationship": self.clause, "feeling": self.order}

    def _summary(self, body):
        return {"title": self.case.canary[:60], "summary": f"{self.order} {self.claim}"}
