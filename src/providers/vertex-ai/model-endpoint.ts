import type { Location } from '../provider.ts';

/** The path of a call below a project and location (or below the version, in express mode), and its format. */
export interface ModelEndpoint extends Pick<Location, 'format' | 'model' | 'streamUsage' | 'modelInBody' | 'codec'> {
  readonly path: string;
}
