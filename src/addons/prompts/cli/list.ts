import type { CompiledPrompt } from '../compile.ts';
import { withPrompts, type PromptsOptions } from './read.ts';
import { textTable } from '../../../core/kernel/layout.ts';

export function listPromptsCommand(
  options: PromptsOptions & { readonly format: 'table' | 'json' },
): Promise<0 | 1 | 2> {
  const { dir, format, out } = options;
  return withPrompts(options, ({ prompts }) => {
    const rows = [...prompts.values()].flatMap(rowsOf);
    if (format === 'json') out(`${JSON.stringify(rows, null, 2)}\n`);
    else if (rows.length === 0) out(`${dir}/prompts has no prompts\n`);
    else out(textTable([['PROMPT', 'STATE', 'LABELS', 'MODEL', 'VARIABLES'], ...rows.map(cellsOf)]));
  });
}

interface ShownVersion {
  readonly prompt: string;
  readonly version: number;
  readonly released: boolean;
  readonly labels: readonly string[];
  readonly model: string | null;
  readonly variables: readonly string[];
}

const rowsOf = ({ id, versions, labels }: CompiledPrompt): readonly ShownVersion[] =>
  [...versions.values()].map(({ number, file, variables }, index) => ({
    prompt: id,
    version: number,
    released: file.digest !== undefined,
    labels: [
      ...[...labels].flatMap(([label, of]) => (of === number ? [label] : [])),
      ...(index === versions.size - 1 ? ['latest'] : []),
    ],
    model: file.model ?? null,
    variables: [...variables.keys()],
  }));

const cellsOf = ({ prompt, version, released, labels, model, variables }: ShownVersion): readonly string[] =>
  [
    `${prompt}@${version}`,
    released ? 'released' : 'draft',
    labels.join(', ') || '-',
    model ?? '-',
    variables.join(', ') || '-',
  ].map((cell) => cell.replaceAll(/\p{Cc}/gu, '\uFFFD'));
