/** The payer's page fits a phone of 320 pixels, and follows the reader's own light or dark. */
export const payPageStyle = `
:root { color-scheme: light dark; --ink: #1c2430; --soft: #515c6b; --paper: #fff; --ground: #eef1f5;
  --line: #7d8896; --act: #0b6b4f; --on-act: #fff; --bad: #a4161a; --note: #fff3d6; }
@media (prefers-color-scheme: dark) { :root { --ink: #eceff4; --soft: #b4bdca; --paper: #1d242e;
  --ground: #12171e; --line: #8591a1; --act: #5fd3ac; --on-act: #0b1f18; --bad: #ff9b9b; --note: #40351a; } }
* { box-sizing: border-box; }
body { margin: 0; padding: 1rem; background: var(--ground); color: var(--ink);
  font: 1rem/1.5 system-ui, "Noto Sans Bengali", sans-serif; overflow-wrap: anywhere; }
nav, main { max-width: 26rem; margin: 0 auto; }
nav { text-align: end; }
nav a { display: inline-block; padding: .6rem .2rem; }
main { padding: 1rem; background: var(--paper); border-radius: .75rem; }
a { color: var(--act); }
h1 { margin: .75rem 0; font-size: 1.5rem; line-height: 1.3; }
.notice { margin: 0; padding: .5rem .75rem; background: var(--note); border-radius: .5rem; }
dl { margin: 1rem 0; }
dl div { display: flex; flex-wrap: wrap; gap: 0 1rem; padding: .4rem 0; border-bottom: 1px solid var(--ground); }
dt { flex: 0 0 8rem; color: var(--soft); }
dd { flex: 1 1 9rem; min-width: 0; margin: 0; white-space: pre-wrap; }
label { display: block; font-weight: 600; }
input, button { width: 100%; min-height: 3rem; padding: .5rem .75rem; border-radius: .5rem; font: inherit; }
input { border: 1px solid var(--line); background: var(--paper); color: var(--ink); }
.hint { margin: .25rem 0 1rem; color: var(--soft); }
.problem { margin: .25rem 0; color: var(--bad); font-weight: 600; }
button { margin-top: .5rem; border: 1px solid var(--act); background: var(--act); color: var(--on-act);
  font-weight: 600; cursor: pointer; }
button.quiet { background: transparent; color: var(--act); }
:focus-visible { outline: 3px solid var(--act); outline-offset: 2px; }
`;
