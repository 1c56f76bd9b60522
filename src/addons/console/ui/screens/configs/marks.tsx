import type { ApiSchemas } from '../../api/shapes.ts';
import { Button } from '../../parts/button.tsx';
import { Chip } from '../../parts/chip.tsx';
import { plural } from '../../parts/format.ts';

export type Mark = ApiSchemas['diagnostic'];

/** The marks of the validator as a list: for those who do not point at a text. */
export function Marks({
  marks,
  path,
  unchecked,
  onShow,
  onFix,
}: {
  readonly marks: readonly Mark[];
  readonly path: string;
  readonly unchecked: readonly string[];
  readonly onShow: (mark: Mark) => void;
  readonly onFix: (fix: NonNullable<Mark['fix']>) => void;
}) {
  const errors = marks.filter(({ severity }) => severity === 'error').length;
  return (
    <section class="marks stack tight" aria-label="Marks">
      <p role="status" class={errors > 0 ? 'failed-text' : 'second'}>
        {errors > 0 ? `${plural(errors, 'mistake')}: these settings would be refused.` : 'These settings are valid.'}
        {unchecked.length > 0 && ` Not checked: ${unchecked.join(', ')}.`}
      </p>
      <ol class="stack tight">
        {marks.map((mark) => {
          const { file, line, column, severity, message, fix } = mark;
          return (
            <li key={`${file} ${line} ${column} ${message}`} class="row top">
              <Chip tone={severity === 'error' ? 'failed' : 'warning'}>{severity}</Chip>
              <Button
                label={`${file === path ? '' : `${file}:`} ${line}:${column}`}
                kind="place"
                onClick={() => onShow(mark)}
              />
              <span class="grow">{message}</span>
              {fix && file === path && <Button label={`Fix: ${fix.text}`} onClick={() => onFix(fix)} />}
            </li>
          );
        })}
      </ol>
    </section>
  );
}

/** The text with a word replaced. */
export function withFix(text: string, { line, column, end_column: end, text: word }: NonNullable<Mark['fix']>): string {
  const lines = text.split('\n');
  const old = lines[line - 1];
  if (old === undefined) return text;
  return lines.with(line - 1, old.slice(0, column - 1) + word + old.slice(end - 1)).join('\n');
}
