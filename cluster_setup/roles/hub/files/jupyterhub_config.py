"""JupyterHub for a class: each has an account of this machine, a JupyterLab, and a cluster under it.

What differs from machine to machine is in hub.json, in the folder that BEOWULF_HUB names.
"""

import json
import os
import sys
from pathlib import Path

folder = Path(os.environ["BEOWULF_HUB"])
hub = json.loads((folder / "hub.json").read_text())
data = Path(hub["data"])
programs = Path(sys.executable).parent
port = hub["port"]
secure = bool(hub["certificate"])

c = get_config()  # noqa: F821, JupyterHub defines it
c.JupyterHub.bind_url = f"http{'s' * secure}://{hub['address']}:{port}"
c.JupyterHub.ssl_cert, c.JupyterHub.ssl_key = hub["certificate"], hub["key"]
# Inside of this machine only: the hub itself, and where it tells the proxy what to do.
c.JupyterHub.hub_ip = "127.0.0.1"
c.JupyterHub.hub_port = port + 1
c.ConfigurableHTTPProxy.api_url = f"http://127.0.0.1:{port + 2}"
c.ConfigurableHTTPProxy.pid_file = str(data / "jupyterhub-proxy.pid")
c.JupyterHub.pid_file = str(data / "jupyterhub.pid")
c.JupyterHub.db_url = f"sqlite:///{data}/jupyterhub.sqlite"
c.JupyterHub.cookie_secret_file = str(data / "jupyterhub_cookie_secret")

# Who has an account here, and is of the class or teaches it.
c.JupyterHub.authenticator_class = "pam"
c.PAMAuthenticator.service = "beowulf-hub"
c.PAMAuthenticator.open_sessions = False
c.LocalAuthenticator.allowed_groups = {"beowulf-class"}
c.Authenticator.allowed_users = {hub["instructor"]}
c.Authenticator.admin_users = {hub["instructor"]}


def set_the_desk(spawner):
    """What a user's server is started with: the labs' own surroundings, and what suits who learns or teaches."""
    teaches = spawner.user.name == hub["instructor"]
    kind = "instructor" if teaches else "learner"
    # The shared cluster is asked for by who is about to measure, and only then.
    wait = ["--wait"] if hub["cluster"] == "slurm" else []
    server = [str(programs / "python"), "-m", "beowulf.desk.service", *wait, kind]
    spawner.cmd = [*server, str(programs / "jupyterhub-singleuser")]
    spawner.environment = {"JUPYTER_CONFIG_PATH": str(folder / kind)}
    # The course lies beside what the instructor does as a learner.
    spawner.notebook_dir = "~" if teaches else "~/beowulf"
    spawner.default_url = "/lab" if teaches else "/beowulf/home"


c.JupyterHub.spawner_class = "jupyterhub.spawner.LocalProcessSpawner"
c.Spawner.pre_spawn_hook = set_the_desk
# A login shell would forget where `beowulf` is.
c.Spawner.args = ["--ServerApp.terminado_settings={'shell_command': ['bash']}"]
# A machine on which a whole class logs in at once is slow.
c.Spawner.start_timeout = 300
c.Spawner.http_timeout = 300
# Time for a learner's cluster to end.
c.LocalProcessSpawner.interrupt_timeout = 30
