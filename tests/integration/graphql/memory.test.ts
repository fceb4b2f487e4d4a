import { memory } from '../../contracts/store/openers.js';
import { graphqlSuite } from './graphql.suite.js';

graphqlSuite(memory);
