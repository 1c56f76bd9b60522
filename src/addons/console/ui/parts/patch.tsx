import type { ProposedPatch } from '../api/shapes.ts';
import { Copy } from './states.tsx';

/** A change of a settings file: a person applies it, the page writes no file. */
export function Patch({ draft }: { readonly draft: ProposedPatch }) {
  const lines = draft.patch.replace(/\n$/, '').split('\n');
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
        {draft.set.length > 0 && <Copy text={draft.set.join('\n')} label="Copy the variables" />}
      </p>
      <pre class="card scroll" tabIndex={0} role="region" aria-label="Commands">
        {[...draft.set, ...draft.apply].join('\n')}
      </pre>
    </div>
  );
}
