import type { ComponentChildren } from 'preact';
import type { ProposedPatch } from '../api/shapes.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Diff } from './diff.tsx';
import { Command, Copy } from './states.tsx';

/** The lines of a unified diff. */
export const linesOfPatch = (text: string): readonly string[] => text.replace(/\n$/, '').split('\n');

/** A change of a settings file: a person applies it, the page writes no file. */
export function Patch({ draft }: { readonly draft: ProposedPatch }) {
  const there = `cd '${draft.folder.replaceAll("'", String.raw`'\''`)}'`;
  const before = draft.set.length > 0 ? ['# Restart the gateway with the variable first:', ...draft.set] : [];
  const commands = [...before, there, ...draft.apply].join('\n');
  const whole = [...before, there, `cat > gatehouse.patch <<'PATCH'\n${draft.patch}PATCH`, ...draft.apply].join('\n');
  return (
    <div class="stack tight">
      {draft.diagnostics.map(({ file, line, severity, message }) => (
        <p key={`${file} ${line} ${message}`} class={`notice ${severity === 'error' ? 'failed' : 'warning'}`}>
          {file}
          {line === undefined ? '' : `:${line}`}: {message}
        </p>
      ))}
      <Diff label={`Change of ${draft.file}`} lines={linesOfPatch(draft.patch)} />
      <p class="row">
        <Copy text={draft.patch} label="Copy the patch" />
        <Copy text={whole} label="Copy all as commands" />
      </p>
      <p class="third">Or save the patch as gatehouse.patch in the folder of the settings, and run there:</p>
      <Command text={commands} label="Commands" />
    </div>
  );
}

interface PatchDialogProps {
  /** Undefined: there is none yet. */
  readonly draft: ProposedPatch | undefined;
  readonly title?: string;
  readonly onClose: () => void;
  readonly children?: ComponentChildren;
}

export const PatchDialog = ({ draft, title, onClose, children }: PatchDialogProps) =>
  draft && (
    <Dialog title={title ?? `The patch of ${draft.file}`} onClose={onClose} wide>
      {children}
      <Patch draft={draft} />
      <p>
        <Button label="Close" onClick={onClose} />
      </p>
    </Dialog>
  );
