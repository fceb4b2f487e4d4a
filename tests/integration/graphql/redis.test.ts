import { redisByAddress } from '../../contracts/store/openers.js';
import { graphqlSuite } from './graphql.suite.js';

graphqlSuite(redisByAddress);
