import { registryPackages } from '../../support/registry-packages.js';

/** The packages of recipes that this repository does not install. @returns their `node_modules` */
export const recipePackages = (): Promise<string> =>
  registryPackages('recipes', {
    ws: '8.23.0',
    graphql: '16.15.0',
    'graphql-yoga': '5.24.1',
    '@apollo/server': '5.5.1',
    bullmq: '6.7.0',
    ioredis: '6.0.0',
    'socket.io': '4.8.4',
    'socket.io-client': '4.8.4',
    kafkajs: '2.2.4',
    '@grpc/grpc-js': '1.14.7',
    '@trpc/server': '11.25.2',
    '@trpc/client': '11.25.2',
    'better-auth': '1.7.25',
  });
