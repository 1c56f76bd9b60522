import { useEffect, useRef } from 'preact/hooks';
import { useLost } from '../parts/lazy.tsx';
import type { EditorHandle, EditorMark } from './editor.ts';
import type { Known } from './completion.ts';

interface EditorProps {
  readonly label: string;
  readonly text: string;
  /** The text as it is at this moment: a letter may have come since the page was drawn. */
  readonly textNow: () => string;
  readonly marks: readonly EditorMark[];
  /** Undefined: not loaded yet. */
  readonly known: Known | undefined;
  readonly onChange: (text: string) => void;
  readonly onSave: () => void;
  readonly onTest: () => void;
  /** Told what moves the cursor. */
  readonly onReady: (handle: Pick<EditorHandle, 'show'>) => void;
}

/** A text editor in a shadow root: the styles of CodeMirror are sheets of that root, which the page's policy allows. */
export function Editor(props: EditorProps) {
  const box = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorHandle>(undefined);
  const lost = useLost();
  const latest = useRef(props);
  latest.current = props;
  useEffect(() => {
    const root = box.current?.shadowRoot ?? box.current?.attachShadow({ mode: 'open' });
    if (!root) return;
    let ended = false;
    import('./editor.ts').then(({ openEditor }) => {
      if (ended) return;
      const { textNow, label, marks, onReady } = latest.current;
      const opened = openEditor(root, {
        text: textNow(),
        label,
        known: () => latest.current.known,
        onChange: (next) => latest.current.onChange(next),
        onSave: () => latest.current.onSave(),
        onTest: () => latest.current.onTest(),
      });
      editor.current = opened;
      opened.mark(marks);
      onReady(opened);
    }, lost);
    return () => {
      ended = true;
      editor.current?.close();
      editor.current = undefined;
    };
  }, [props.label]);
  useEffect(() => editor.current?.mark(props.marks), [props.marks]);
  useEffect(() => editor.current?.setText(latest.current.textNow()), [props.text]);
  return <div ref={box} class="editor" />;
}
