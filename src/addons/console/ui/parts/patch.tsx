import type { ProposedPatch } from '../api/shapes.ts';
import { Command, Copy } from './states.tsx';

/** A change of a settings file: a person applies it, the page writes no file. */
export function Patch({ draft }: { readonly draft: ProposedPatch }) {
  const lines = draft.patch.replace(/\n$/, '').split('\n');
  const commands = [
    ...draft.set,
    ...(draft.set.length > 0 ? ['# The gateway sees a new variable after a restart.'] : []),
    '# In the folder of the settings:',
    ...draft.apply,
  ].join('\n');
  return (
    <div class="stack tight">
      {draft.diagnostics.map(({ file, line, severity, message }) => (
        <p key={message} class={`notice ${severity === 'error' ? 'failed' : 'warning'}`}>
          {file}
          {line === undefined ? '' : `:${line}`}: {message}
        </p>
      ))}
      <pre class="diff" tabIndex={0} role="region" aria-label={`Change of ${draft.file}`}>
        {lines.map((line, index) => (
          <span key={index} class={line.startsWith('+') ? 'added' : line.startsWith('-') ? 'removed' : undefined}>
            {`${line}\n`}
          </span>
        ))}
      </pre>
      <p class="row">
        <Copy text={draft.patch} label="Copy the patch" />
        <Copy text={`cat > gatehouse.patch <<'PATCH'\n${draft.patch}PATCH\n${commands}`} label="Copy all as commands" />
      </p>
      <Command text={commands} label="Commands" />
    </div>
  );
}
