import { cpuOf, LARGE_BYTES } from './measure.ts';
import { ROUTES } from './request-pairs.ts';
import { bytesOf, parseAndWrite, serve } from './request-run.ts';

/** Cheaper pairs are measured once: they keep the rule of the bench (6). */
const CHEAP = 5;

/** What one shape costs at one target, as a multiple of `JSON.parse` and `JSON.stringify` of the same bytes. */
export interface ShapeRatio {
  readonly operation: string;
  readonly shape: string;
  readonly target: string;
  readonly ratio: number;
  readonly milliseconds: number;
}

/** Every shape of a request at every target, the dearest first. */
export function shapeRatios(): readonly ShapeRatio[] {
  const ratios = ROUTES.flatMap(({ operation, shapes, formats, hosts }) =>
    Object.entries(shapes).flatMap(([shape, make]) => {
      const bytes = bytesOf(make(LARGE_BYTES));
      const least = cpuOf(() => void parseAndWrite(bytes));
      return Object.entries({ ...formats, ...hosts }).map(([target, resolved]): ShapeRatio => {
        const cost = cpuOf(() => void serve(bytes, operation, resolved), { enough: least * CHEAP });
        return { operation: operation.id, shape, target, ratio: cost / least, milliseconds: cost / 1000 };
      });
    }),
  );
  return ratios.toSorted((a, b) => b.ratio - a.ratio);
}
