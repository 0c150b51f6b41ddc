// The home page as a tab of JupyterLab, in front unless a notebook was asked for; and tabs for the texts it links to.
//
// Written by hand as the container of webpack's module federation that JupyterLab loads: see beowulf-check.
(() => {
  const NAME = 'beowulf-home';
  const COMMAND = 'beowulf:home';
  let shared;

  async function load(name) {
    const [version] = Object.values(shared[name]);
    return (await version.get())();
  }

  async function extension() {
    const [{ ICommandPalette, MainAreaWidget }, { PageConfig, URLExt }, { ILauncher }, { homeIcon }, { Widget }] =
      await Promise.all(
        [
          '@jupyterlab/apputils',
          '@jupyterlab/coreutils',
          '@jupyterlab/launcher',
          '@jupyterlab/ui-components',
          '@lumino/widgets'
        ].map(load)
      );

    // A page of our own server, as a tab; the keyboard goes into it with the tab, as soon as it is loaded.
    function tab(app, id, url, title) {
      const content = new Widget();
      content.addClass('jp-IFrame');
      content.node.tabIndex = -1;
      let isLoaded = false;
      let last; // what had the keyboard when the tab was left
      const frame = content.node.appendChild(document.createElement('iframe'));
      frame.title = title;
      frame.src = url;
      frame.style.cssText = 'width: 100%; height: 100%; border: 0';
      frame.addEventListener('load', () => {
        isLoaded = true;
        frame.contentDocument.addEventListener('focusin', ({ target }) => (last = target));
        // Shortcuts of JupyterLab work here, too.
        frame.contentDocument.addEventListener('keydown', event => app.commands.processKeydownEvent(event), true);
        if ([document.body, content.node].includes(document.activeElement) && frame.getClientRects().length) {
          frame.contentWindow.focus();
        }
      });
      content.onActivateRequest = () =>
        (!isLoaded ? content.node : last?.isConnected ? last : frame.contentWindow)?.focus();
      const widget = new MainAreaWidget({ content });
      widget.id = id;
      widget.title.label = title;
      widget.title.closable = true;
      widget.title.icon = id === NAME ? homeIcon : undefined;
      widget.toolbar.hide();
      return widget;
    }

    function activate(app, palette, launcher) {
      const base = PageConfig.getBaseUrl();
      const tabs = new Map();

      function show(id, url, title, isInFront = true) {
        if (!tabs.has(id) || tabs.get(id).isDisposed) {
          tabs.set(id, tab(app, id, url, title));
          app.shell.add(tabs.get(id), 'main', { activate: isInFront });
        }
        if (isInFront) {
          app.shell.activateById(id);
        }
      }

      const home = isInFront => show(NAME, URLExt.join(base, 'beowulf', 'home'), 'Beowulf Labs', isInFront);

      app.commands.addCommand(COMMAND, {
        label: 'Beowulf Labs: Home',
        caption: 'Labs, cluster, handouts and papers',
        icon: ({ isPalette }) => (isPalette ? undefined : homeIcon),
        execute: () => home(true)
      });
      app.commands.addKeyBinding({ command: COMMAND, keys: ['Alt Shift H'], selector: 'body' });
      palette?.addItem({ command: COMMAND, category: 'Beowulf Labs', args: { isPalette: true } });
      launcher?.add({ command: COMMAND, category: 'Beowulf Labs' });

      window.addEventListener('message', ({ origin, data }) => {
        if (origin !== window.location.origin || !data?.beowulf) {
          return;
        }
        const { open, show: url, title, again } = data.beowulf;
        if (open) {
          void app.commands.execute('docmanager:open', { path: open });
        } else if (url?.startsWith(URLExt.join(base, 'beowulf') + '/')) {
          if (again) {
            tabs.get(`${NAME}:${url}`)?.dispose();
          }
          show(`${NAME}:${url}`, url, title);
        }
      });

      void app.restored.then(() => home(!PageConfig.getOption('treePath')));
    }

    const plugin = {
      id: `${NAME}:tab`,
      autoStart: true,
      optional: [ICommandPalette, ILauncher],
      activate
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
