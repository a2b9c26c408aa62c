// libmlx5.so.1: the function that does something; the others are in libmlx5.map.

/// The beginning of the caller's structure (infiniband/mlx5dv.h).
struct DeviceCapabilities {
  unsigned char version;
  unsigned long flags, comp_mask;
};

/// Succeeds with none of the requested capabilities, because some programs take a refusal for a failure.
extern "C" __attribute__((visibility("default"))) int mlx5dv_query_device(void*, DeviceCapabilities* out) {
  out->version = 0;
  out->flags = out->comp_mask = 0;
  return 0;
}
