import type { ShownRequest } from '../../api/shapes.ts';

/** Complete after a try or a target had failed: as the list has it. */
export const isRescued = ({
  state,
  retries = 0,
  attempts,
}: Pick<ShownRequest, 'state' | 'retries' | 'attempts'>): boolean =>
  state === 'complete' && (retries > 0 || attempts.some(({ failure }) => failure !== undefined));
