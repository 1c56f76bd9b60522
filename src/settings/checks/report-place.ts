import type { Report } from '../../plugin/index.ts';
import type { JsonPath } from '../read/pointer.ts';

/** A path in a settings file, and the reporter for problems at it. */
export interface ReportPlace {
  readonly path: JsonPath;
  readonly report: Report;
}
