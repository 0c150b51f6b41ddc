// A button at each block of commands that copies them; of a session in a terminal, what is typed.
for (const block of navigator.clipboard ? document.querySelectorAll('pre') : []) {
  const button = document.createElement('button');
  Object.assign(button, { type: 'button', className: 'copy', textContent: 'Copy' });
  button.addEventListener('click', async () => {
    const text = block.querySelector('code').textContent.trimEnd();
    const typed = text.split('\n').filter(line => line.startsWith('$ ')).map(line => line.slice(2));
    await navigator.clipboard.writeText(typed.join('\n') || text);
    button.textContent = 'Copied';
  });
  block.prepend(button);
}
