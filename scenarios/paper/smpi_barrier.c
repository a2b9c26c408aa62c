/* MPI_Barrier again and again: prints what one takes, in microseconds. Run by smpi.py on a simulated platform. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  enum { kRounds = 100 };
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  double begin = MPI_Wtime();
  for (int i = 0; i < kRounds; ++i) MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("%.6f\n", (MPI_Wtime() - begin) / kRounds * 1e6);
  MPI_Finalize();
  return 0;
}
