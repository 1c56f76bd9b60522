import {
  autocompletion,
  completionKeymap,
  type CompletionContext,
  type CompletionResult,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentLess, indentMore } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import {
  foldGutter,
  foldKeymap,
  HighlightStyle,
  indentOnInput,
  indentUnit,
  syntaxHighlighting,
} from '@codemirror/language';
import { lintGutter, lintKeymap, setDiagnostics, type Diagnostic } from '@codemirror/lint';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { EditorState, Prec, type Extension, type Text } from '@codemirror/state';
import {
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  hoverTooltip,
  keymap,
  lineNumbers,
  type KeyBinding,
  type Tooltip,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { completeAt, hoverAt, type Known } from './completion.ts';

/** Lines and columns count from 1. */
export interface EditorMark {
  readonly line: number;
  readonly column: number;
  readonly severity: 'error' | 'warning';
  readonly message: string;
  readonly fix?:
    | { readonly line: number; readonly column: number; readonly end_column: number; readonly text: string }
    | undefined;
}

export interface EditorHandle {
  mark(marks: readonly EditorMark[]): void;
  setText(text: string): void;
  /** Moves the cursor to a line, and the focus to the editor. */
  show(line: number, column?: number): void;
  close(): void;
}

export interface EditorSetup {
  readonly text: string;
  readonly label: string;
  readonly known: () => Known | undefined;
  readonly onChange: (text: string) => void;
  readonly onSave: () => void;
  readonly onTest: () => void;
}

export function openEditor(root: ShadowRoot, setup: EditorSetup): EditorHandle {
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({ doc: setup.text, extensions: extensionsOf(setup) }),
  });
  return {
    mark: (marks) =>
      view.dispatch(
        setDiagnostics(
          view.state,
          marks.map((one) => diagnosticOf(one, view.state.doc)),
        ),
      ),
    setText(text) {
      const { doc } = view.state;
      if (text === doc.toString()) return;
      view.dispatch({ changes: { from: 0, to: doc.length, insert: text } });
    },
    show(line, column = 1) {
      const anchor = offsetOf(view.state.doc, line, column);
      view.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: 'center' }) });
      view.focus();
    },
    close: () => view.destroy(),
  };
}

function offsetOf(doc: Text, line: number, column: number): number {
  const { from, to } = doc.line(Math.min(Math.max(1, line), doc.lines));
  return Math.min(from + Math.max(1, column) - 1, to);
}

/** The word of the fix, or the rest of the word at the place: the validator names its beginning. */
function diagnosticOf({ line, column, severity, message, fix }: EditorMark, doc: Text): Diagnostic {
  const from = offsetOf(doc, line, column);
  if (!fix) {
    const rest = doc.lineAt(from).text.slice(from - doc.lineAt(from).from);
    const to = from + (/^("[^"]*"?|'[^']*'?|[^\s,{}[\]:#]+)/.exec(rest)?.[0].length ?? 0);
    return { from, to, severity, message };
  }
  // The editor moves the place with the text around it.
  const apply = (view: EditorView, start: number, end: number): void =>
    view.dispatch({ changes: { from: start, to: end, insert: fix.text }, userEvent: 'input' });
  const [start, end] = [offsetOf(doc, fix.line, fix.column), offsetOf(doc, fix.line, fix.end_column)];
  return { from: start, to: end, severity, message, actions: [{ name: `Fix: ${fix.text}`, apply }] };
}

/** Esc, then Tab leaves the editor: CodeMirror lets the next Tab go. */
const tabs: readonly KeyBinding[] = [{ key: 'Tab', run: indentMore, shift: indentLess }];

function extensionsOf({ label, known, onChange, onSave, onTest }: EditorSetup): Extension {
  const then = (run: () => void) => (): boolean => {
    run();
    return true;
  };
  return [
    Prec.highest(
      keymap.of([
        { key: 'Mod-s', run: then(onSave), preventDefault: true },
        { key: 'Mod-Enter', run: then(onTest) },
      ]),
    ),
    lineNumbers(),
    foldGutter(),
    lintGutter(),
    history(),
    indentOnInput(),
    indentUnit.of('  '),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    highlightSelectionMatches(),
    search({ top: true }),
    yaml(),
    syntaxHighlighting(COLOURS),
    autocompletion({ override: [(context) => complete(context, known())], icons: false }),
    hoverTooltip((view, at) => hover(view.state.doc.toString(), at, known())),
    keymap.of([
      ...completionKeymap,
      ...tabs,
      ...defaultKeymap,
      ...historyKeymap,
      ...searchKeymap,
      ...lintKeymap,
      ...foldKeymap,
    ]),
    EditorView.domEventHandlers({ beforeinput: typeOver }),
    EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false', tabindex: '0' }),
    EditorView.updateListener.of(({ docChanged, state }) => docChanged && onChange(state.doc.toString())),
    THEME,
  ];
}

/** Chromium keeps the look of a selection that is typed over by an inline style, which the policy of the page refuses. */
function typeOver({ inputType, data }: InputEvent, view: EditorView): boolean {
  if (inputType !== 'insertText' || data === null || view.state.selection.main.empty || view.composing) return false;
  view.dispatch(view.state.replaceSelection(data), { userEvent: 'input.type', scrollIntoView: true });
  return true;
}

function complete(context: CompletionContext, known: Known | undefined): CompletionResult | null {
  const { state, pos, explicit } = context;
  const found = known && completeAt(state.doc.toString(), pos, known);
  // Each space would open it.
  if (!found || (!explicit && found.from === pos)) return null;
  const rest = /^[^\s,{}[\]:#"']*/.exec(state.doc.lineAt(pos).text.slice(pos - state.doc.lineAt(pos).from))?.[0] ?? '';
  const colon = /^\s*:/.test(state.sliceDoc(pos + rest.length, pos + rest.length + 8));
  return {
    from: found.from,
    to: pos + rest.length,
    options: found.options.map(({ label, insert, kind, detail, info }) => ({
      label,
      detail,
      apply: kind === 'key' && colon ? label : insert,
      ...(info !== '' && { info }),
    })),
    validFor: /^[\w@$/.:-]*$/,
  };
}

function hover(text: string, at: number, known: Known | undefined): Tooltip | null {
  const found = known && hoverAt(text, at, known);
  if (!found) return null;
  const { from, to, name, type, text: about, more } = found;
  const lines = [`${name}${type === '' ? '' : `: ${type}`}`, about, more].filter((line) => line !== '');
  return {
    pos: from,
    end: to,
    create: () => {
      const dom = document.createElement('div');
      dom.className = 'hover';
      // Texts of a schema are texts: nothing here is HTML.
      dom.append(...lines.map((line) => Object.assign(document.createElement('p'), { textContent: line })));
      return { dom };
    },
  };
}

const COLOURS = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--code-key)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--code-text)' },
  { tag: [tags.comment, tags.lineComment], color: 'var(--third)' },
  { tag: [tags.meta, tags.keyword, tags.typeName], color: 'var(--running)' },
]);

/** The page's own colours, in both of its themes. */
const THEME = EditorView.theme({
  '&': { height: '100%', color: 'var(--text)', backgroundColor: 'var(--surface)', fontSize: '12px' },
  // The host has it.
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '20px' },
  '.cm-content': { caretColor: 'var(--text)', padding: '8px 0' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { color: 'var(--third)', backgroundColor: 'var(--surface)', border: '0' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--soft)' },
  '.cm-selectionMatch, .cm-searchMatch': { backgroundColor: 'var(--warning-soft)' },
  '& ::selection': { backgroundColor: 'var(--accent-soft)' },
  '.cm-tooltip, .cm-panels': {
    color: 'var(--text)',
    backgroundColor: 'var(--surface)',
    border: '1px solid var(--edge)',
    borderRadius: '6px',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', maxHeight: '16em' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { color: 'var(--text)', backgroundColor: 'var(--accent-soft)' },
  '.cm-completionDetail': { color: 'var(--second)', fontStyle: 'normal' },
  '.cm-completionInfo, .hover': { padding: '6px 10px', maxWidth: '420px', font: '12px/18px system-ui, sans-serif' },
  '.hover p': { margin: '0' },
  '.hover p:first-child': { font: '12px/18px var(--mono)', color: 'var(--code-key)' },
  '.cm-diagnostic': { fontFamily: 'system-ui, sans-serif' },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--failed)' },
  '.cm-diagnostic-warning': { borderLeftColor: 'var(--warning)' },
  '.cm-diagnosticAction': { color: 'var(--on-accent)', backgroundColor: 'var(--accent)' },
  '.cm-button, .cm-textfield': {
    color: 'inherit',
    background: 'var(--surface)',
    border: '1px solid var(--edge)',
    borderRadius: '4px',
  },
  '.cm-foldPlaceholder': { color: 'var(--second)', backgroundColor: 'var(--soft)', borderColor: 'var(--edge)' },
});
