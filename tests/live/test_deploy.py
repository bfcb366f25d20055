"""The files in deploy/: each checked by the program that reads it, as far as it is here."""

from __future__ import annotations

import base64
import json
import re
import shlex
import shutil
import socket
import ssl
import subprocess
import sys
from collections import Counter
from pathlib import Path

import httpx
import kubernetes_validate
import pytest
import yaml
from patience import eventually
from prometheus_client.parser import text_string_to_metric_families
from service import Running

from patientbandits.cli import parser
from patientbandits.live.operations.keys import checked_token

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
CHART = DEPLOY / "helm" / "patientbandits"
HELM = shutil.which("helm", path=str(Path(sys.executable).parent)) or shutil.which("helm")
NEEDS_HELM = pytest.mark.skipif(
    HELM is None, reason="THE HELM CHART IS NOT TESTED: no helm here (the package helm-binary)"
)
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
NEEDS_NGINX = pytest.mark.skipif(
    NGINX is None or shutil.which("openssl") is None,
    reason="NGINX IS NOT TESTED: no nginx or openssl here (.ci/run installs them)",
)
KUBERNETES = "1.29"


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    with Running(tmp_path_factory.mktemp("deploy") / "shop.db") as server:
        new = {"name": "checkout", "arms": ["control", "blue"], "largest_value": 100}
        server.api.post("/v1/experiments", json=new)
        yield server


def families(api):
    """The metrics as Prometheus reads them."""
    return {family.name: family for family in text_string_to_metric_families(scraped(api))}


def scraped(api):
    answer = api.get("/metrics")
    assert answer.status_code == 200
    return answer.text


def test_metrics_of_each_arm(running):
    made = Counter()
    paid = Counter()
    for number in range(30):
        decide = {"unit": f"v{number}"}
        arm = running.api.post("/v1/experiments/checkout/decisions", json=decide).json()["arm"]
        made[arm] += 1
        if number % 3 == 0:
            order = {"unit": f"v{number}", "order": f"A{number}", "value": 40}
            running.api.post("/v1/experiments/checkout/conversions", json=order)
            paid[arm] += 1
    running.api.post(
        "/ofrep/v1/evaluate/flags", json={"context": {"targetingKey": "promised, not shown"}}
    )
    found = families(running.api)
    for name, wanted in (
        ("patientbandits_decisions", made),
        ("patientbandits_conversions", paid),
        ("patientbandits_value", {arm: 40 * count for arm, count in paid.items()}),
    ):
        told = {
            sample.labels["arm"]: sample.value
            for sample in found[name].samples
            if sample.labels["experiment"] == "checkout"
        }
        assert told == {arm: wanted.get(arm, 0) for arm in ("control", "blue")}


def test_every_metric_of_the_grafana_dashboard_is_there(running):
    board = json.loads((DEPLOY / "grafana.json").read_text())
    running.api.get("/healthz")
    names = {
        sample.name
        for family in text_string_to_metric_families(scraped(running.api))
        for sample in family.samples
    }
    asked = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    asked += [
        variable["query"]["query"]
        for variable in board["templating"]["list"]
        if isinstance(variable["query"], dict)
    ]
    assert len(asked) > 10
    for expression in asked:
        used = set(re.findall(r"patientbandits_\w+", expression))
        assert used, expression
        assert used <= names, expression
        assert expression.count("(") == expression.count(")")
    places = [tuple(panel["gridPos"].values()) for panel in board["panels"]]
    assert len(set(places)) == len(places)
    assert all(panel["gridPos"]["x"] + panel["gridPos"]["w"] <= 24 for panel in board["panels"])
    ids = [panel["id"] for panel in board["panels"]]
    assert len(set(ids)) == len(ids)


def helm(*arguments):
    return subprocess.run([HELM, *map(str, arguments)], capture_output=True, text=True, timeout=120)


VALUES = (
    {},
    {"postgres.secret": "bandits-db", "postgres.replicas": 3, "adminKeySecret": "own"},
    {"allowOrigins[0]": "https://shop.example", "rate": 100, "ingress.enabled": "true"},
    {"traces.enabled": "true", "traces.endpoint": "http://collector:4318"},
    {
        "serviceMonitor.enabled": "true",
        "serviceMonitor.keySecret": "metrics",
        "ingress.enabled": "true",
        "ingress.className": "nginx",
        "ingress.tlsSecret": "tls",
        "storage.className": "fast",
    },
)


@NEEDS_HELM
@pytest.mark.parametrize("values", VALUES)
def test_the_chart(values):
    given = [part for name, value in values.items() for part in ("--set", f"{name}={value}")]
    linted = helm("lint", CHART, "--strict", *given)
    assert linted.returncode == 0, linted.stdout
    rendered = helm("template", "shop", CHART, *given)
    assert rendered.returncode == 0, rendered.stderr
    objects = [found for found in yaml.safe_load_all(rendered.stdout) if found]
    kinds = {found["kind"] for found in objects}
    assert ("Deployment" if "postgres.secret" in values else "StatefulSet") in kinds
    for found in objects:
        if found["kind"] != "ServiceMonitor":  # the operator's own kind
            kubernetes_validate.validate(found, KUBERNETES, strict=True)
    (workload,) = [found for found in objects if found["kind"] in ("Deployment", "StatefulSet")]
    pod = workload["spec"]["template"]["spec"]
    options = parser().parse_args(pod["containers"][0]["args"])
    assert (options.host, options.port) == ("0.0.0.0", 8080)
    assert options.traces == ("traces.enabled" in values)
    assert options.allow_origin == [value for name, value in values.items() if "Origins" in name]
    mounted = {mount["name"] for mount in pod["containers"][0]["volumeMounts"]}
    claims = workload["spec"].get("volumeClaimTemplates", [])
    there = {volume["name"] for volume in [*pod["volumes"], *[c["metadata"] for c in claims]]}
    assert mounted == there
    (secret,) = [volume["secret"] for volume in pod["volumes"] if "secret" in volume]
    keys = {found["metadata"]["name"]: found for found in objects if found["kind"] == "Secret"}
    if "adminKeySecret" in values:
        assert (secret["secretName"], keys) == ("own", {})
    else:
        (key,) = keys[secret["secretName"]]["data"].values()
        assert checked_token(base64.b64decode(key).decode())
    (mount,) = [one for one in pod["containers"][0]["volumeMounts"] if one["name"] == "admin-key"]
    assert options.first_key == f"{mount['mountPath']}/key", "no key is printed into the log"


@NEEDS_HELM
def test_the_chart_refuses_what_it_does_not_know():
    """The control: a value that is misspelt, or of the wrong type, is an error."""
    for wrong in ("storage.sise=1Gi", "postgres.replicas=none", "allowOrigins[0]=shop.example"):
        assert helm("template", "shop", CHART, "--set", wrong).returncode != 0


def test_compose():
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    services = compose["services"]
    for name in ("bandits", "bandits-postgres"):
        options = parser().parse_args(services[name]["command"])
        assert options.host == "0.0.0.0"
        assert services[name]["read_only"] is True
        assert all(port.startswith("127.0.0.1:") for port in services[name]["ports"])
    assert parser().parse_args(services["bandits"]["command"]).db == "/data/shop.db"
    for service in services.values():
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            assert source in compose["volumes"] or source.startswith("./")
        for other in service.get("depends_on", {}):
            assert other in services


def test_prometheus():
    """Compose gives it the key, where the file says, and its target is a service of Compose."""
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    (job,) = yaml.safe_load((DEPLOY / "prometheus.yml").read_text())["scrape_configs"]
    mounts = [volume.split(":")[1] for volume in services["prometheus"]["volumes"]]
    assert job["authorization"]["credentials_file"] in mounts
    (target,) = job["static_configs"][0]["targets"]
    name, port = target.split(":")
    assert services[name]["command"][services[name]["command"].index("--port") + 1] == port


def test_compose_by_docker():
    docker = shutil.which("docker")
    has = docker and subprocess.run([docker, "compose", "version"], capture_output=True)
    if not has or has.returncode:
        pytest.skip("COMPOSE.YAML IS NOT READ BY DOCKER: no docker compose here")
    asked = [docker, "compose", "-f", str(DEPLOY / "compose.yaml"), "config", "-q"]
    read = subprocess.run(asked, capture_output=True, text=True, timeout=120)
    assert read.returncode == 0, read.stderr


def test_systemd(tmp_path):
    text = (DEPLOY / "patientbandits.service").read_text()
    (start,) = re.findall(r"^ExecStart=(.*)$", text, re.MULTILINE)
    program, *arguments = shlex.split(start)
    options = parser().parse_args(arguments)
    assert options.db.startswith("/var/lib/patientbandits/")
    if shutil.which("systemd-analyze") is None:
        pytest.skip("THE SYSTEMD UNIT IS NOT VERIFIED: no systemd-analyze here")
    unit = tmp_path / "patientbandits.service"
    for content, good in (
        (text.replace(program, "/bin/true"), True),
        (text.replace(program, "/bin/true").replace("UMask=0077", "UMask=no\nNoSuch=1"), False),
    ):
        unit.write_text(content)
        asked = ["systemd-analyze", "verify", "--man=no", str(unit)]
        done = subprocess.run(asked, capture_output=True, text=True, timeout=120)
        ours = [line for line in done.stderr.splitlines() if unit.name in line]
        assert (ours == []) == good, done.stderr


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as found:
        return found.getsockname()[1]


@pytest.fixture
def proxied(running, tmp_path):
    """Our nginx.conf with other addresses and a certificate of its own, in a real nginx."""
    certificate = tmp_path / "shop.crt"
    key = tmp_path / "shop.key"
    make = f"openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost -keyout {key}"
    subprocess.run([*make.split(), "-out", certificate], check=True, capture_output=True)
    port = free_port()
    shutil.copy(DEPLOY / "bandits-proxy.conf", tmp_path)
    text = (DEPLOY / "nginx.conf").read_text()
    for ours, here in (
        ("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"),
        ("127.0.0.1:8080", running.url.removeprefix("http://")),
        ("/etc/ssl/shop.example.crt", str(certificate)),
        ("/etc/ssl/shop.example.key", str(key)),
        ("/etc/nginx/bandits-proxy.conf", str(tmp_path / "bandits-proxy.conf")),
    ):
        assert ours in text
        text = text.replace(ours, here)
    (tmp_path / "site.conf").write_text(text)
    folders = [f"{name}_temp_path {tmp_path};" for name in ("client_body", "proxy", "fastcgi")]
    folders += [f"{name}_temp_path {tmp_path};" for name in ("uwsgi", "scgi")]
    main = tmp_path / "nginx.conf"
    main.write_text(
        f"daemon off; master_process off; pid {tmp_path}/pid; error_log stderr; events {{}}\n"
        f"http {{ access_log off; {' '.join(folders)} include {tmp_path}/site.conf; }}\n"
    )
    told = tmp_path / "nginx.log"  # a pipe that nobody reads would fill up
    with told.open("wb") as stream:
        process = subprocess.Popen([NGINX, "-c", main, "-p", tmp_path], stderr=stream)
    context = ssl.create_default_context(cafile=str(certificate))
    with httpx.Client(
        base_url=f"https://localhost:{port}",
        headers={"x-api-key": running.key},
        verify=context,
        trust_env=False,
    ) as client:

        def answers():
            assert process.poll() is None, told.read_text()
            try:
                return client.get("/healthz")
            except httpx.TransportError:
                return None

        eventually(answers)
        yield client
    process.terminate()
    process.wait(120)


@NEEDS_NGINX
def test_nginx(running, proxied):
    made = proxied.post("/v1/experiments/checkout/decisions", json={"unit": "through nginx"})
    assert made.status_code == 201
    again = running.api.post("/v1/experiments/checkout/decisions", json={"unit": "through nginx"})
    assert again.json()["id"] == made.json()["id"]
    asked = {"context": {"targetingKey": "through nginx"}}
    all_flags = proxied.post("/ofrep/v1/evaluate/flags", json=asked)
    tag = all_flags.headers["etag"]
    known = proxied.post("/ofrep/v1/evaluate/flags", json=asked, headers={"if-none-match": tag})
    assert (all_flags.status_code, known.status_code) == (200, 304)
    large = proxied.post("/ofrep/v1/evaluate/flags", content=b"x" * 1_100_000)
    assert large.status_code == 413
    statuses = Counter(proxied.get("/ofrep/v1/evaluate/flags").status_code for _ in range(400))
    assert statuses[405] >= 100
    assert statuses[429] > 0, "an address that asks too often is told so"
    assert set(statuses) == {405, 429}
