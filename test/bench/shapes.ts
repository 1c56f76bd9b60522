import { shapeRatios } from '../growth/shape-ratios.ts';

/** The rule for what one request may cost, whatever its shape. */
const MOST = 6;
const SHOWN = 10;

/** Hostile shapes of 1 MB in one process: reading, checking and translating, against parsing and writing the same bytes. */
export function hostileShapes(): string {
  const ratios = shapeRatios();
  const above = ratios.filter(({ ratio }) => ratio > MOST).length;
  const rows = ratios
    .slice(0, SHOWN)
    .map(
      ({ operation, shape, target, ratio, milliseconds }) =>
        `| ${operation} | ${shape} | ${target} | ${milliseconds.toFixed(0)} | ${ratio.toFixed(1)} |`,
    );
  return [
    `### Hostile shapes of 1 MB: worst × JSON.parse + JSON.stringify (${above} of ${ratios.length} are above ${MOST})`,
    '',
    '| operation | shape | target | CPU ms | × parse + stringify |',
    '| --- | --- | --- | ---: | ---: |',
    ...rows,
    '',
  ].join('\n');
}
