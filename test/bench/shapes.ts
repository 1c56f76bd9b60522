import { replyRatios } from '../growth/reply-ratio.ts';
import { shapeRatios } from '../growth/shape-ratios.ts';

/** The rule for what one body may cost, whatever its shape. */
const MOST = 6;
const SHOWN = 10;

interface Cost {
  readonly ratio: number;
  readonly milliseconds: number;
}

/** `npm run bench:shapes`. Hostile shapes of 1 MB in one process: reading, checking and translating, against parsing and writing the same bytes. */
function hostileShapes(): string {
  const requests = table({
    title: 'Hostile requests of 1 MB',
    names: ['operation', 'shape', 'target'],
    costs: shapeRatios(),
    cells: ({ operation, shape, target }) => [operation, shape, target],
  });
  const replies = table({
    title: 'Hostile replies of 1 MB',
    names: ['operation', 'shape', 'pair'],
    costs: replyRatios(),
    cells: ({ form, shape, pair }) => [form, shape, pair],
  });
  return `${requests}\n${replies}`;
}

interface Table<T extends Cost> {
  readonly title: string;
  readonly names: readonly string[];
  readonly costs: readonly T[];
  /** What stands under the names. */
  readonly cells: (cost: T) => readonly string[];
}

function table<T extends Cost>({ title, names, costs, cells }: Table<T>): string {
  const above = costs.filter(({ ratio }) => ratio > MOST).length;
  const rows = costs.slice(0, SHOWN).map((cost) => {
    const figures = [cost.milliseconds.toFixed(0), cost.ratio.toFixed(1)];
    return `| ${[...cells(cost), ...figures].join(' | ')} |`;
  });
  return [
    `### ${title}: worst × JSON.parse + JSON.stringify (${above} of ${costs.length} are above ${MOST})`,
    '',
    `| ${names.join(' | ')} | CPU ms | × parse + stringify |`,
    `| ${names.map(() => '---').join(' | ')} | ---: | ---: |`,
    ...rows,
    '',
  ].join('\n');
}

if (import.meta.main) console.log(hostileShapes());
