export { headerPaths } from './paths.ts';
export { checkCrossing } from './self-test.ts';
