// The button "Check" in a notebook's toolbar, and a save before a cell `check("NN")` runs.
//
// JupyterLab loads an extension as a container of webpack's module federation: an object with `init`, which is given
// the modules that JupyterLab shares, and `get`, which gives the extension's own. Written by hand, it needs no build.
(() => {
  const NAME = 'beowulf-check';
  const TITLE = 'Before you hand it in';
  const CHECK_CELL = /^\s*(?:beowulf\.)?check\(/m;
  let shared;

  // A module of JupyterLab's own, such as @jupyterlab/apputils; there is one version of each.
  async function load(name) {
    const [version] = Object.values(shared[name]);
    return (await version.get())();
  }

  async function extension() {
    const [{ Dialog, showDialog }, { ToolbarButton }, { URLExt }, { ServerConnection }, { Widget }, { NotebookActions }] =
      await Promise.all(
        [
          '@jupyterlab/apputils',
          '@jupyterlab/ui-components',
          '@jupyterlab/coreutils',
          '@jupyterlab/services',
          '@lumino/widgets',
          '@jupyterlab/notebook'
        ].map(load)
      );

    async function ask(path) {
      const settings = ServerConnection.makeSettings();
      const url = URLExt.join(settings.baseUrl, 'beowulf', 'check');
      const request = { method: 'POST', body: JSON.stringify({ path }) };
      const answer = await ServerConnection.makeRequest(url, request, settings);
      if (!answer.ok) {
        throw new Error(`The server answers with ${answer.status}.`);
      }
      return answer.json();
    }

    async function check(button, context) {
      const body = document.createElement('div');
      body.tabIndex = 0; // a long table is scrolled by keys, too
      body.setAttribute('role', 'region');
      body.setAttribute('aria-label', TITLE);
      button.enabled = false;
      try {
        await context.save();
        const found = await ask(context.path);
        if (found.problem) {
          body.textContent = found.problem;
        } else {
          body.className = 'jp-RenderedHTMLCommon';
          body.innerHTML = found.html; // what a learner wrote is escaped in it
        }
      } catch (problem) {
        body.textContent = `The check did not work: ${problem.message ?? problem}`;
      } finally {
        button.enabled = true;
      }
      await showDialog({
        title: TITLE,
        body: new Widget({ node: body }),
        buttons: [Dialog.okButton({ label: 'Close' })]
      });
    }

    function createNew(panel, context) {
      const button = new ToolbarButton({
        label: 'Check',
        tooltip: 'Look what is empty, malformed, not measured or not yet right. Nothing is run.',
        onClick: () => void check(button, context)
      });
      button.addClass('beowulf-check');
      panel.toolbar.insertItem(10, NAME, button);
      return button;
    }

    // `check` reads the file, so that the notebook has to be saved when its cell runs.
    function save(_, { notebook, cell }) {
      const context = notebook.parent?.context;
      if (CHECK_CELL.test(cell.model.sharedModel.getSource()) && context?.model.dirty) {
        void context.save();
      }
    }

    const plugin = {
      id: `${NAME}:button`,
      autoStart: true,
      activate: app => {
        app.docRegistry.addWidgetExtension('Notebook', { createNew });
        NotebookActions.executionScheduled.connect(save);
      }
    };
    return { __esModule: true, default: plugin };
  }

  window._JUPYTERLAB = window._JUPYTERLAB ?? {};
  window._JUPYTERLAB[NAME] = {
    init: scope => {
      shared = scope;
    },
    get: async () => {
      const made = await extension();
      return () => made;
    }
  };
})();
