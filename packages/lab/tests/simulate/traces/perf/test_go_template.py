"""Go templates: what the reference's templates use, and what is said of the rest."""

import pytest

from kubesched_lab.simulate.errors import TraceError
from kubesched_lab.simulate.traces.perf.go_template import GoTemplate


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("plain", "plain"),
        ("pod-{{.Index}}", "pod-7"),
        ("pod-{{ .Index }}-of-{{ .Count }}", "pod-7-of-30"),
        ("{{Mod .Index 5}}", "2"),
        ("{{ DivideInt 30000 .Count }}Mi", "1000Mi"),
        ("{{ DivideInt .Index 2 }}", "3"),
        ("{{ AddInt .Index 1 2 }} {{ SubtractInt .Index 10 }} {{ MultiplyInt 2 3 }}", "10 -3 6"),
        ("{{ DivideFloat .Index 2 }} {{ AddFloat 1 }}", "3.5 1"),
        ("{{ AddInt (Mod .Index 5) (MultiplyInt 2 2) }}", "6"),
        ("{{ .Index | Mod 20 }}", "6"),
        ('{{ "text" }}', "text"),
        ("a {{- .Index -}} b", "a7b"),
    ],
)
def test_templates_are_filled_in(text: str, filled: str) -> None:
    assert GoTemplate(text, "pod.yaml").filled(Index=7, Count=30) == filled


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: 1\nname: {{ .Name }}", "pod.yaml, line 2: {{.Name}} has .Name; fields are .Index, .Count"),
        ("{{ range .Index }}", "pod.yaml, line 1: {{range .Index}} has range; functions are AddFloat"),
        (
            "{{ DivideInt .Index 0 }}",
            "pod.yaml, line 1: {{DivideInt .Index 0}} cannot be computed: division by zero",
        ),
        ("{{ Mod .Index }}", "pod.yaml, line 1: {{Mod .Index}} cannot be computed"),
        ("{{ .Index .Count }}", "pod.yaml, line 1: {{.Index .Count}} is not understood"),
        ("{{ (Mod .Index 2 }}", "pod.yaml, line 1: {{( Mod .Index 2}} has ( without )"),
        ("{{ }}", "pod.yaml, line 1: {{}} is empty"),
        ("{{ .Index ) }}", "continues after its end with )"),
        ("{{ $x := 1 }}", "pod.yaml, line 1: {{ $x := 1}} is not understood; templates have .Index"),
        ("a\n{{ .Index", "pod.yaml, line 2: {{ without }}"),
        ('{{ Mod "a" 2 }}', "cannot be computed: could not convert string"),
    ],
)
def test_what_is_not_understood_is_told_with_its_line(text: str, problem: str) -> None:
    with pytest.raises(TraceError) as raised:
        GoTemplate(text, "pod.yaml").filled(Index=7, Count=30)
    assert problem in str(raised.value)
