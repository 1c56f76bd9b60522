import type { Location } from '../provider.ts';

/** Where a call goes, below a project and location (or below the version, in express mode), and how it is said there. */
export interface ModelEndpoint extends Pick<Location, 'format' | 'model' | 'streamUsage' | 'modelInBody' | 'codec'> {
  readonly path: string;
}
